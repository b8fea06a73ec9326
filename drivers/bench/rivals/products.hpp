// What the rivals of every kernel share: operands on a back end, and how they become a Prepared.
#pragma once
#include <limits>
#include <memory>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel::drivers {

/// The back end a rival runs on.
template <class B>
B back_end(const Where& where) {
  if constexpr (std::is_same_v<B, Cuda>)
    return *where.cuda;
  else if constexpr (std::is_same_v<B, OpenMP>)
    return where.openmp;
  else
    return Serial{};
}
template <class B>
constexpr BackendName runs_on = std::is_same_v<B, Cuda>     ? BackendName::cuda
                                : std::is_same_v<B, OpenMP> ? BackendName::openmp
                                                            : BackendName::serial;

/// Calls add(null pointer to the back end's type) for each back end of this build, the serial one first.
template <class Add>
void for_each_back_end(const Add& add) {
  add(static_cast<const Serial*>(nullptr));
  add(static_cast<const OpenMP*>(nullptr));
  if constexpr (built_with_cuda) add(static_cast<const Cuda*>(nullptr));
}

/// The task's matrix with offsets of 32 bits, one copy in each memory for all of its rivals.
template <class Space>
CsrView<double, std::int32_t, Space> csr_of(const Task& task) {
  auto& [host, device] = *task.copies;
  if (!host) host = with_offsets<std::int32_t>(OpenMP{}, task.A.view());
  if constexpr (std::is_same_v<Space, Host>) {
    return host->view();
  } else {
    if (!device) device = copied_to<Device>(host->view());
    return device->view();
  }
}

/// The diagonal of A, 0 where none is stored.
inline std::vector<double> diagonal_of(const Matrix& A) {
  std::vector<double> diagonal(static_cast<std::size_t>(A.nrows));
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      if (A.col_idx[e] == i) diagonal[std::size_t(i)] = A.values[e];
  return diagonal;
}

/// For rivals that sweep for one right-hand side.
inline void require_one_column(const Task& task) {
  if (task.k > 1) throw ResourceError("takes one right-hand side at a time");
}

/// The input and the output of a task where its rival runs, and whatever else the rival keeps.
template <class B, class Kept>
struct Operands {
  Operands(const Task& task, const Where& where, std::int64_t output_size, Kept kept_)
      : on(back_end<B>(where)), x(task.input), y(output_size), kept(std::move(kept_)) {}
  B on;
  Array<double, SpaceOf<B>> x, y;
  Kept kept;
};

/// A Prepared around operands whose operation is run(operands).
template <class B, class Kept, class Run>
Prepared prepared(std::shared_ptr<Operands<B, Kept>> operands, double setup_seconds, std::int64_t workspace_bytes,
                  Run run) {
  return {
      .run = [operands, run] { run(*operands); },
      .poison = [operands] { fill<B, double>(operands->on, operands->y, std::numeric_limits<double>::quiet_NaN()); },
      .output =
          [operands](std::vector<double>& to) {
            to.resize(std::size_t(operands->y.size()));
            copy_bytes(Host{}, to.data(), SpaceOf<B>{}, operands->y.data(), operands->y.size() * 8);
          },
      .setup_seconds = setup_seconds,
      .workspace_bytes = workspace_bytes};
}

}  // namespace seidel::drivers
