// seidel gemm: C = A B + C of dense matrices in files, on a grid of processes.

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/mpi_session.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/matrix_market/output_file.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

struct Task {
  DistributedShape shape;
  Precision precision = Precision::fp64;
};

/// What the files say. Errors  InputError if they do not fit.
Task task_of(const GemmOptions& options) {
  const DenseHead head = read_dense_head(options.a);
  const auto shape_of = [&](const std::string& file) {
    const DenseHead found = read_dense_head(file);
    if (found.precision != head.precision)
      throw InputError(formatted("{} has elements of {}, {} of {}: expected one precision", options.a,
                                 to_string(head.precision), file, to_string(found.precision)));
    return found.shape;
  };
  const DenseShape a = head.shape, b = shape_of(options.b);
  if (a.ncols != b.nrows)
    throw InputError(formatted("{} is {} x {}, {} is {} x {}: expected as many columns of A as rows of B", options.a,
                               a.nrows, a.ncols, options.b, b.nrows, b.ncols));
  if (!options.c.empty()) {
    const DenseShape c = shape_of(options.c);
    if (c.nrows != a.nrows || c.ncols != b.ncols)
      throw InputError(formatted("{} is {} x {}, expected {} x {}, the shape of A B", options.c, c.nrows, c.ncols,
                                 a.nrows, b.ncols));
  }
  return {{.m = a.nrows, .n = b.ncols, .k = a.ncols, .block = options.block}, head.precision};
}

enum Step { reading, sending, copying, computing, writing, everything, nsteps };
constexpr const char* steps[nsteps] = {"reading", "sending", "copying", "computing", "writing", "all"};

/// Seconds of each step: of the slowest process, and on average.
struct Seconds {
  double slowest[nsteps], mean[nsteps];
};
Seconds seconds_of_all(const double (&mine)[nsteps], const MpiSession& session) {
  Seconds all;
  MPI_Reduce(mine, all.slowest, nsteps, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(mine, all.mean, nsteps, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (double& seconds : all.mean) seconds /= session.size;
  return all;
}

void report(const GemmOptions& options, const Task& task, const ProcessGrid& grid, const Seconds& seconds,
            const std::string& where) {
  const DistributedShape& shape = task.shape;
  const double flops = 2 * double(shape.m) * double(shape.n) * double(shape.k);
  const auto gflops = [&](Step step) { return seconds.slowest[step] > 0 ? flops / seconds.slowest[step] / 1e9 : 0; };
  std::string text = formatted("{}: {} x {} times {} x {}{}\n", options.out, shape.m, shape.k, shape.k, shape.n,
                               options.c.empty() ? "" : ", added to " + options.c);
  text += formatted("{}, grid {}x{}, blocks of {}, {}, {}\n\n", to_string(task.precision), grid.rows(), grid.columns(),
                    shape.block, options.method, where);
  text += formatted("{:<10} {:>10} {:>10}\n", "", "slowest", "mean");
  for (int s = 0; s < nsteps; ++s)
    text += formatted("{:<10} {:>10} {:>10}\n", steps[s], human_seconds(seconds.slowest[s]),
                      human_seconds(seconds.mean[s]));
  text += formatted("\n{:.2f} GFLOP/s computing, {:.2f} GFLOP/s from file to file\n", gflops(computing),
                    gflops(everything));
  print(options, text);
  if (options.json.empty()) return;
  Json slowest, mean;
  for (int s = 0; s < nsteps; ++s) slowest.set(steps[s], seconds.slowest[s]), mean.set(steps[s], seconds.mean[s]);
  Json json = json_document("seidel.gemm/1", options.command_line);
  json.set("m", shape.m).set("n", shape.n).set("k", shape.k).set("block", shape.block).set("method", options.method);
  json.set("precision", to_string(task.precision));
  json.set("grid", Json().set("rows", grid.rows()).set("columns", grid.columns())).set("where", where);
  json.set("slowest", std::move(slowest)).set("mean", std::move(mean)).set("flops", flops);
  write_text(options.json, json.text());
}

/// C = A B + beta C. On a GPU: A, B and C are copied there, and C back.
template <class On, class Real>
DistributedTimes multiply_on(const On& on, DistributedProduct<On, Real>& product, const Array<Real>& A,
                             const Array<Real>& B, Real beta, Array<Real>& C) {
  if constexpr (HostBackend<On>) {
    return product.apply(A, B, beta, C);
  } else {
    const double begin = MPI_Wtime();
    const auto a = copied_to<Device>(on, A), b = copied_to<Device>(on, B);
    auto c = copied_to<Device>(on, C);
    on.synchronize();
    const double copied = MPI_Wtime();
    DistributedTimes times = product.apply(a, b, beta, c);
    const double computed = MPI_Wtime();
    copy(on, std::as_const(c).span(), C.span());
    times.copying += copied - begin + MPI_Wtime() - computed;
    return times;
  }
}

template <class Real>
void multiply(const GemmOptions& options, const MpiSession& session, const Task& task, const ProcessGrid& grid) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const DistributedShape& shape = task.shape;
  const DistributedGemm how = distributed_gemm(options.method);
  const DistributedParts parts = parts_of(how, grid, shape);
  const bool has_c = how == DistributedGemm::summa || grid.leads();
  const MPI_Comm owners_of_c = how == DistributedGemm::summa ? all : grid.column();
  const ProcessPlace place = process_place(options, session);

  double seconds[nsteps] = {};
  MPI_Barrier(all);
  const double begin = MPI_Wtime();
  const auto A = read_part<Real>(all, options.a, parts.a), B = read_part<Real>(all, options.b, parts.b);
  Array<Real> C;
  together(all, [&] { C = Array<Real>(has_c ? parts.c.nrows() * parts.c.ncols() : 0); });
  if (!options.c.empty())
    together(all, [&] {
      if (has_c) C = read_part<Real>(owners_of_c, options.c, parts.c);
    });
  seconds[reading] = MPI_Wtime() - begin;
  std::string sent;
  on_process_place(place, session, [&]<class On>(const On& on) {
    DistributedProduct<On, Real> product(on, how, grid, shape);
    sent = product.describe();
    const DistributedTimes times = multiply_on(on, product, A, B, Real(options.c.empty() ? 0 : 1), C);
    seconds[sending] = times.sending, seconds[copying] = times.copying, seconds[computing] = times.computing;
  });
  const double writing_began = MPI_Wtime();
  together(all, [&] {
    if (has_c) write_parts(owners_of_c, mm::behind_links(options.out), parts.c, std::as_const(C).span());
  });
  seconds[writing] = MPI_Wtime() - writing_began, seconds[everything] = MPI_Wtime() - begin;
  const Seconds of_all = seconds_of_all(seconds, session);
  const std::string where = formatted("{} on {}{}", plural(session.size, "process", "processes"), place.describe(),
                                      sent.empty() ? "" : ", " + sent);
  if (session.rank == 0) report(options, task, grid, of_all, where);  // nobody waits for what may fail now
}

/// What one process does. Its errors are those of all, but for a failure amid the product, which ends all at once.
void multiply(const GemmOptions& options, const MpiSession& session) {
  const MPI_Comm all = MPI_COMM_WORLD;
  Task task;
  GridShape sizes;
  together(all, [&] {
    sizes = options.grid.empty() ? squarest(session.size) : grid_shape(options.grid);
    task = task_of(options);
  });
  std::optional<ProcessGrid> grid;
  together(all, [&] { grid.emplace(all, sizes.rows, sizes.columns); });
  task.precision == Precision::fp64 ? multiply<double>(options, session, task, *grid)
                                    : multiply<float>(options, session, task, *grid);
}

}  // namespace

int run(const GemmOptions& options) {
  return on_all_processes([&](const MpiSession& session) {
    multiply(options, session);
    return 0;
  });
}

}  // namespace seidel::drivers
