// The levels of amg, as `seidel solve` and `seidel info` tell of them.
#include <seidel/drivers/levels.hpp>

#include <algorithm>

namespace seidel::drivers {

void add_levels(Lines& lines, const std::vector<LevelFacts>& levels, const Paint& paint) {
  if (levels.empty()) return;
  Table table{{"level", "rows", "nonzeros", "per row", "memory", "largest eigenvalue", ""}};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const LevelFacts& level = levels[l];
    std::string remark = level.unknowns_per_node > 1 ? formatted("{} rows per node", level.unknowns_per_node) : "";
    if (level.lone > 0)
      remark += (remark.empty() ? "" : "; ") + formatted("{} left to the smoother", plural(level.lone, "row"));
    table.row({count(std::int64_t(l)), count(level.rows), count(level.nnz),
               formatted("{:.1f}", double(level.nnz) / double(std::max<std::int64_t>(1, level.rows))),
               human_bytes(level.bytes), formatted("{:.2f}", level.largest_eigenvalue), remark});
  }
  std::int64_t bytes = 0;
  for (const LevelFacts& level : levels) bytes += level.bytes;
  lines.raw(table.text(paint) + formatted("together {:.2f} times the nonzeros of A (operator complexity) and {:.2f} "
                                          "times its rows (grid complexity), {}",
                                          operator_complexity(levels), grid_complexity(levels), human_bytes(bytes)));
}

void set_levels(Json& json, const std::vector<LevelFacts>& levels) {
  Json all = json_list(levels, [](const LevelFacts& level) {
    Json one;
    one.set("rows", level.rows).set("nonzeros", level.nnz).set("prolongation_nonzeros", level.prolongation_nnz);
    one.set("unknowns_per_node", level.unknowns_per_node).set("largest_eigenvalue", level.largest_eigenvalue);
    one.set("strength", level.strength).set("left_to_smoother", level.lone).set("bytes", level.bytes);
    return one;
  });
  const bool known = !levels.empty();
  json.set_if(known, "levels", std::move(all)).set_if(known, "operator_complexity", operator_complexity(levels));
  json.set_if(known, "grid_complexity", grid_complexity(levels));
}

}  // namespace seidel::drivers
