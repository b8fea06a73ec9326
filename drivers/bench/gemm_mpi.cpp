// seidel bench gemm-mpi: products of dense matrices in memory, on 1, 2, 3 ... of the processes that mpirun started.
#include <cmath>
#include <limits>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/mpi_session.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

constexpr std::uint64_t seed_of_a = 1, seed_of_b = 2;

/// An element of the matrix that seidel generate dense:MxN writes.
double element(const DenseShape& shape, std::uint64_t seed, std::int64_t i, std::int64_t j) {
  return generators::signed_uniform(
      generators::Stream(seed, generators::Draw::values, 0)(std::uint64_t(i * shape.ncols + j)));
}

/// A part of such a matrix, made piece by piece on the host.
template <class Real, class On>
Array<Real, typename On::Space> random_part(const On& on, const DensePart& part, std::uint64_t seed) {
  const std::int64_t nrows = part.nrows(), ncols = part.ncols();
  Array<Real, typename On::Space> elements(on, nrows * ncols);
  const std::int64_t at_once = std::max<std::int64_t>(1, (1 << 23) / std::max<std::int64_t>(ncols, 1));
  Array<Real> piece(std::min(at_once, nrows) * ncols);
  for (std::int64_t first = 0; first < nrows; first += at_once) {
    const std::int64_t rows = std::min(at_once, nrows - first);
    parallel_for(host_of(on), rows * ncols, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t place = begin; place < end; ++place)
        piece[place] = Real(element(part.shape(), seed, part.rows.global(part.row_part, first + place / ncols),
                                    part.columns.global(part.column_part, place % ncols)));
    });
    copy_bytes(on, typename On::Space{}, elements.data() + first * ncols, Host{}, piece.data(),
               rows * ncols * sizeof(Real));
  }
  return elements;
}

/// The largest error over its bound in some elements of this process; infinite for NaN.
template <class On, class Real>
double error_of_some(const On& on, const DensePart& part, std::int64_t terms,
                     const Array<Real, typename On::Space>& C) {
  constexpr std::int64_t some = 8;
  const std::int64_t nrows = part.nrows(), ncols = part.ncols();
  const DenseShape a{part.rows.n, terms}, b{terms, part.columns.n};
  double worst = 0;
  Array<Real> row(ncols);
  for (std::int64_t r = 0; r < std::min(some, nrows) && ncols > 0; ++r) {
    const std::int64_t local_i = (2 * r + 1) * nrows / (2 * some) % nrows, i = part.rows.global(part.row_part, local_i);
    copy_bytes(on, Host{}, row.data(), typename On::Space{}, C.data() + local_i * ncols, ncols * sizeof(Real));
    for (std::int64_t c = 0; c < std::min(some, ncols); ++c) {
      const std::int64_t local_j = (2 * c + r) * ncols / (2 * some) % ncols;
      const std::int64_t j = part.columns.global(part.column_part, local_j);
      long double sum = 0, scale = 0;
      for (std::int64_t k = terms; k-- > 0;) {
        const long double term =
            static_cast<long double>(Real(element(a, seed_of_a, i, k))) * Real(element(b, seed_of_b, k, j));
        sum += term, scale += std::fabs(term);
      }
      const double error = error_over_bound(row[local_j], sum, scale, terms);
      worst = error == error ? std::max(worst, error) : std::numeric_limits<double>::infinity();
    }
  }
  return worst;
}

/// What is measured: one product on one grid.
struct Experiment {
  DistributedShape shape;
  std::string method;
  GridShape grid;
  int processes() const { return grid.rows * grid.columns; }
};
/// Seconds of the slowest process in the fastest trial.
struct Result {
  double sending = 0, copying = 0, computing = 0, all = std::numeric_limits<double>::infinity();
  double error = 0;       // over its bound
  std::string sent = {};  // how panels travelled
};

template <class Real, class On>
Result measured(const On& on, const Experiment& what, MPI_Comm processes, int trials) {
  const ProcessGrid grid(processes, what.grid.rows, what.grid.columns);
  const DistributedGemm how = distributed_gemm(what.method);
  const DistributedParts parts = parts_of(how, grid, what.shape);
  const auto A = random_part<Real>(on, parts.a, seed_of_a), B = random_part<Real>(on, parts.b, seed_of_b);
  const bool has_c = how == DistributedGemm::summa || grid.leads();
  const Array<Real> nan(has_c ? parts.c.nrows() * parts.c.ncols() : 0, std::numeric_limits<Real>::quiet_NaN());
  Array<Real, typename On::Space> C(on, nan.size());
  DistributedProduct<On, Real> product(on, how, grid, what.shape);
  Result best;
  for (int trial = 0; trial <= trials; ++trial) {  // the first one warms up
    copy_bytes(on, typename On::Space{}, C.data(), Host{}, nan.data(), nan.size() * sizeof(Real));
    on.synchronize();
    MPI_Barrier(processes);
    const double begin = MPI_Wtime();
    const DistributedTimes times = product.apply(A, B, 0, C);
    const double mine[] = {times.sending, times.copying, times.computing, MPI_Wtime() - begin};
    double slowest[4];
    MPI_Allreduce(mine, slowest, 4, MPI_DOUBLE, MPI_MAX, processes);
    if (trial > 0 && slowest[3] < best.all)
      best = {.sending = slowest[0], .copying = slowest[1], .computing = slowest[2], .all = slowest[3]};
  }
  const double error = has_c ? error_of_some<On, Real>(on, parts.c, what.shape.k, C) : 0;
  MPI_Allreduce(&error, &best.error, 1, MPI_DOUBLE, MPI_MAX, processes);
  best.sent = product.describe();
  return best;
}

std::vector<Experiment> experiments(const BenchGemmMpiOptions& options, int processes) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::vector<GridShape> grids;
  for (const std::string& text : options.grids) {
    grids.push_back(grid_shape(text));
    if (std::int64_t(grids.back().rows) * grids.back().columns > processes)
      throw UsageError(
          formatted("--grid {}: found {}, expected at least as many as the grid has\n  start more: mpirun -np N", text,
                    plural(processes, "process", "processes")));
  }
  if (grids.empty())
    for (int p = 1; p <= processes; ++p) grids.push_back(squarest(p));
  std::vector<Experiment> all;
  for (const std::string& size : options.sizes) {
    const auto [m, n, k] = product_extents(size, 1, most, "2000x2000x2000");
    for (const std::string& method : options.methods)
      for (const GridShape grid : grids)
        all.push_back({{.m = m, .n = n, .k = k, .block = options.block}, method, grid});
  }
  return all;
}

/// Rows of the report; speed-up and efficiency are those against the first grid of the same size and method.
class Report {
 public:
  explicit Report(const BenchGemmMpiOptions& options, std::string where)
      : options_(options), where_(std::move(where)) {}

  void add(const Experiment& what, const Result& result) {
    const auto& [m, n, k, block] = what.shape;
    const std::string task = formatted("{} x {} x {} {}", m, n, k, what.method);
    if (task != task_) task_ = task, first_ = {what.processes(), result.all};
    const double speed_up = first_.seconds / result.all,
                 gflops = 2 * double(m) * double(n) * double(k) / result.all / 1e9;
    const double efficiency = speed_up * first_.processes / what.processes();
    const bool wrong = !(result.error <= 1);
    any_wrong_ = any_wrong_ || wrong;
    const std::string grid = formatted("{}x{}", what.grid.rows, what.grid.columns);
    table_.row({formatted("{} x {} x {}", m, n, k), what.method, grid, human_seconds(result.sending),
                human_seconds(result.copying), human_seconds(result.computing), human_seconds(result.all),
                formatted("{:.1f}", gflops), formatted("{:.2f}", speed_up), formatted("{:.0f} %", 100 * efficiency),
                wrong ? "WRONG" : formatted("{:.2g}", result.error)});
    if (!result.sent.empty()) sent_ = result.sent;
    Json row, seconds;
    seconds.set("sending", result.sending).set("copying", result.copying);
    seconds.set("computing", result.computing).set("all", result.all);
    row.set("m", m).set("n", n).set("k", k).set("block", block).set("method", what.method);
    row.set("grid", Json().set("rows", what.grid.rows).set("columns", what.grid.columns));
    row.set("seconds", std::move(seconds)).set("speed_up", speed_up).set("efficiency", efficiency);
    row.set("error", result.error);
    rows_.push(std::move(row));
  }

  /// The exit code.
  int finish() {
    print(options_, formatted("{}, blocks of {}, {}{}; fastest of {}, seconds of the slowest process\n\n{}",
                              precision(), options_.block, where_, sent_.empty() ? "" : ", " + sent_,
                              plural(options_.trials, "trial"), table_.text(Paint(Terminal::of(1).colours))));
    if (!options_.json.empty()) {
      Json json = json_document("seidel.bench.gemm-mpi/1", options_.command_line);
      json.set("where", where_).set("sent", sent_).set("trials", options_.trials);
      json.set("precision", precision()).set("products", std::move(rows_));
      write_text(options_.json, json.text());
    }
    return any_wrong_;
  }

 private:
  std::string_view precision() const { return to_string(options_.fp32 ? Precision::fp32 : Precision::fp64); }

  struct First {
    int processes;
    double seconds;
  };
  const BenchGemmMpiOptions& options_;
  std::string where_, sent_, task_;
  First first_{};
  bool any_wrong_ = false;
  Table table_{{"M x N x K", "method", "grid", "sending", "copying", "computing", "all", "GFLOP/s", "speed-up",
                "efficiency", "error/bound"}};
  Json rows_ = Json::array();
};

/// On each process; the first one reports.
int measure(const BenchGemmMpiOptions& options, const MpiSession& session) {
  std::vector<Experiment> all;
  together(MPI_COMM_WORLD, [&] { all = experiments(options, session.size); });
  const ProcessPlace place = process_place(options, session);
  Report report(options, place.describe());
  for (const Experiment& what : all) {
    MPI_Comm processes;
    MPI_Comm_split(MPI_COMM_WORLD, session.rank < what.processes() ? 0 : MPI_UNDEFINED, session.rank, &processes);
    if (processes != MPI_COMM_NULL) {
      on_process_place(place, session, [&](const auto& on) {
        const Result result = options.fp32 ? measured<float>(on, what, processes, options.trials)
                                           : measured<double>(on, what, processes, options.trials);
        if (session.rank == 0) report.add(what, result);
      });
      MPI_Comm_free(&processes);
    }
    meet();
  }
  return session.rank == 0 ? report.finish() : 0;
}

}  // namespace

int run(const BenchGemmMpiOptions& options) {
  return on_all_processes([&](const MpiSession& session) { return measure(options, session); });
}

}  // namespace seidel::drivers
