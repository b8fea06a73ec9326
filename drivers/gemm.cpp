// seidel gemm: C = A B + C of dense matrices in files, on a grid of processes.
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/mpi_device.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/gemm/mpi/distributed.hpp>

namespace seidel::drivers {

namespace {

/// MPI from here to the end of the scope.
class Session {
 public:
  Session() {
    // Pointers into a file that processes share, which we do not use: Open MPI 4.1 fails to open any file where it
    // cannot make them.
    setenv("OMPI_MCA_sharedfp", "^sm", 0);
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm on_this_machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &on_this_machine);
    MPI_Comm_rank(on_this_machine, &local_rank);
    MPI_Comm_size(on_this_machine, &local_size);
    MPI_Comm_free(&on_this_machine);
  }
  ~Session() { MPI_Finalize(); }
  Session(const Session&) = delete;

  int rank = 0, size = 1, local_rank = 0, local_size = 1;  // of all processes; of those on this machine
};

struct GridShape {
  int rows = 0, columns = 0;
};
/// "2x3"; as square as can be if it is empty.
GridShape grid_shape(const std::string& text, int processes) {
  int sizes[2] = {0, 0};
  if (text.empty()) {
    MPI_Dims_create(processes, 2, sizes);
    return {sizes[0], sizes[1]};
  }
  const char *at = text.data(), *const end = at + text.size();
  for (int& size : sizes) {
    const auto [rest, error] = std::from_chars(at, end, size);
    const bool ends_well = &size == sizes ? rest != end && *rest == 'x' : rest == end;
    if (error != std::errc() || !ends_well || size < 1)
      throw UsageError(formatted("--grid: found '{}', expected rows and columns of processes: 2x3", text));
    at = rest + (rest != end);
  }
  return {sizes[0], sizes[1]};
}

/// The sizes of A and B, and of C if there is one. Errors  InputError if they do not fit.
DistributedShape shape_of(const GemmOptions& options) {
  const DenseShape a = read_dense_head(options.a), b = read_dense_head(options.b);
  if (a.ncols != b.nrows)
    throw InputError(formatted("{} is {} x {}, {} is {} x {}: expected as many columns of A as rows of B", options.a,
                               a.nrows, a.ncols, options.b, b.nrows, b.ncols));
  if (!options.c.empty()) {
    const DenseShape c = read_dense_head(options.c);
    if (c.nrows != a.nrows || c.ncols != b.ncols)
      throw InputError(formatted("{} is {} x {}, expected {} x {}, the shape of A B", options.c, c.nrows, c.ncols,
                                 a.nrows, b.ncols));
  }
  return {.m = a.nrows, .n = b.ncols, .k = a.ncols, .block = options.block};
}

constexpr const char* steps[] = {"reading", "sending", "copying", "computing", "writing", "all"};
constexpr int nsteps = int(std::size(steps));

/// Seconds of each step: of the slowest process, and on average.
struct Seconds {
  double slowest[nsteps], mean[nsteps];
};
Seconds seconds_of_all(const double (&mine)[nsteps], const Session& session) {
  Seconds all;
  MPI_Reduce(mine, all.slowest, nsteps, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(mine, all.mean, nsteps, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (double& seconds : all.mean) seconds /= session.size;
  return all;
}

void report(const GemmOptions& options, const DistributedShape& shape, const ProcessGrid& grid, const Seconds& seconds,
            const std::string& where) {
  const double flops = 2 * double(shape.m) * double(shape.n) * double(shape.k);
  const double computing = seconds.slowest[3], all = seconds.slowest[nsteps - 1];
  std::string text = formatted("{}: {} x {} times {} x {}{}\n", options.out, shape.m, shape.k, shape.k, shape.n,
                               options.c.empty() ? "" : ", added to " + options.c);
  text += formatted("grid {}x{}, blocks of {}, {}, {}\n\n", grid.rows(), grid.columns(), shape.block, options.method,
                    where);
  text += formatted("{:<10} {:>10} {:>10}\n", "", "slowest", "mean");
  for (int s = 0; s < nsteps; ++s)
    text += formatted("{:<10} {:>10} {:>10}\n", steps[s], human_seconds(seconds.slowest[s]),
                      human_seconds(seconds.mean[s]));
  text += formatted("\n{:.2f} GFLOP/s computing, {:.2f} GFLOP/s from file to file\n",
                    computing > 0 ? flops / computing / 1e9 : 0, all > 0 ? flops / all / 1e9 : 0);
  print(options, text);
  if (options.json.empty()) return;
  Json json, slowest, mean;
  for (int s = 0; s < nsteps; ++s) slowest.set(steps[s], seconds.slowest[s]), mean.set(steps[s], seconds.mean[s]);
  json.set("schema", "seidel.gemm/1").set("version", version).set("command", options.command_line);
  json.set("m", shape.m).set("n", shape.n).set("k", shape.k).set("block", shape.block).set("method", options.method);
  json.set("grid", std::move(Json().set("rows", grid.rows()).set("columns", grid.columns()))).set("where", where);
  json.set("slowest", std::move(slowest)).set("mean", std::move(mean)).set("flops", flops);
  write_text(options.json, json.text());
}

/// What one process does. Its errors are those of all, but for a failure amid the product, which ends all at once.
void multiply(const GemmOptions& options, const Session& session) {
  const MPI_Comm all = MPI_COMM_WORLD;
  DistributedShape shape;
  GridShape sizes;
  together(all, [&] {
    sizes = grid_shape(options.grid, session.size);
    require_writable("--out", options.out);
    require_apart({{"--out", options.out}, {"--json", options.json}},
                  {{"A", options.a}, {"B", options.b}, {"C", options.c}});
    shape = shape_of(options);
  });
  std::optional<ProcessGrid> grid_of;
  together(all, [&] { grid_of.emplace(all, sizes.rows, sizes.columns); });
  const ProcessGrid& grid = *grid_of;
  const auto how = options.method == "summa" ? DistributedGemm::summa : DistributedGemm::row_sums;
  const DistributedParts parts = parts_of(how, grid, shape);
  const bool has_c = how == DistributedGemm::summa || grid.leads();
  const OpenMP host{options.backend == BackendName::serial ? 1
                    : options.threads                      ? options.threads
                                                           : std::max(1, available_threads() / session.local_size)};
  std::optional<Cuda> gpu;
  together(all, [&] {
    require_backend(options);
    if constexpr (built_with_cuda)
      if (options.backend == BackendName::cuda)
        gpu.emplace(CudaSettings{.device = session.local_rank % cuda_device_count(), .host = host});
  });

  double seconds[nsteps] = {};
  MPI_Barrier(all);
  const double begin = MPI_Wtime();
  const Array<double> A = read_part(all, options.a, parts.a), B = read_part(all, options.b, parts.b);
  Array<double> C;
  together(all, [&] { C = Array<double>(has_c ? parts.c.nrows() * parts.c.ncols() : 0); });
  if (!options.c.empty())
    together(all, [&] {
      if (has_c) C = read_part(how == DistributedGemm::summa ? all : grid.column(), options.c, parts.c);
    });
  seconds[0] = MPI_Wtime() - begin;
  DistributedTimes times;
  try {
    const double beta = options.c.empty() ? 0 : 1;
    gpu ? distributed_gemm(*gpu, how, grid, shape, A.span(), B.span(), beta, C.span(), times)
        : distributed_gemm(host, how, grid, shape, A.span(), B.span(), beta, C.span(), times);
  } catch (const std::exception& error) {  // the others wait for this process
    std::fprintf(stderr, "seidel: process %d: %s\n", session.rank, error.what());
    MPI_Abort(all, 5);
  }
  seconds[1] = times.sending, seconds[2] = times.copying, seconds[3] = times.computing;
  const double writing = MPI_Wtime();
  together(all, [&] {
    if (has_c) write_parts(how == DistributedGemm::summa ? all : grid.column(), options.out, parts.c, C.span());
  });
  seconds[4] = MPI_Wtime() - writing, seconds[5] = MPI_Wtime() - begin;
  const Seconds of_all = seconds_of_all(seconds, session);
  const std::string where = formatted("{} on {}", plural(session.size, "process", "processes"),
                                      gpu ? cuda_device_name() : plural(host.threads, "thread") + " each");
  together(all, [&] {
    if (session.rank == 0) report(options, shape, grid, of_all, where);
  });
}

}  // namespace

int run(const GemmOptions& options) {
  const Session session;
  try {
    multiply(options, session);
  } catch (...) {  // all have the same error: the first process tells of it
    if (session.rank == 0) throw;
  }
  return 0;
}

}  // namespace seidel::drivers
