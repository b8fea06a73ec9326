// The one list of rivals. A new one adds its line to its kernel's list (rivals/), a new list its line here.
#include <seidel/drivers/bench/rivals/lists.hpp>

namespace seidel::drivers {

std::span<const Rival> rivals() {
  static const std::vector<Rival> all = [] {
    std::vector<Rival> joined;
    for (const auto& list :
         {spmv_rivals(), spmm_rivals(), symgs_rivals(), transpose_rivals(), eigen_rivals(), cusparse_rivals()})
      joined.insert(joined.end(), list.begin(), list.end());
    return joined;
  }();
  return all;
}

}  // namespace seidel::drivers
