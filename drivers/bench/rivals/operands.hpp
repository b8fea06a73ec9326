// What the rivals of every kernel share: operands on a back end, and how they become a Prepared.
#pragma once
#include <algorithm>
#include <limits>
#include <memory>

#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/bench/sample.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/kernels/blas1/blas1.hpp>

namespace seidel::drivers {

/// The back end a rival runs on.
template <class B>
B back_end(const Where& where) {
  if constexpr (HostBackend<B>)
    return where.openmp;
  else
    return *where.cuda;
}

/// Calls add(name, null pointer to the back end's type) for each back end of this build, the serial one first.
void for_each_back_end(const auto& add) {
  add(BackendName::serial, static_cast<const OpenMP*>(nullptr));
  add(BackendName::openmp, static_cast<const OpenMP*>(nullptr));
  if constexpr (built_with_cuda) add(BackendName::cuda, static_cast<const Cuda*>(nullptr));
}

/// Adds seidel's own on each back end of this build; prepare(null pointer to the back end's type) is how it prepares there.
/// `on_gpu` is said in place of `what` where it works in another way there.
void add_ours(std::vector<Rival>& all, const Kernel& kernel, std::string_view format, std::string_view what,
              const auto& prepare, std::string_view on_gpu = {}) {
  for_each_back_end([&](BackendName on, const auto* type) {
    const bool other_way = on == BackendName::cuda && !on_gpu.empty();
    all.push_back({&kernel, format, on, "", Role::exact, other_way ? on_gpu : what, prepare(type)});
  });
}
inline Rival baseline(const Kernel& kernel, std::string_view format, BackendName on, std::string_view variant,
                      std::string_view what, Prepare prepare) {
  return {&kernel, format, on, variant, Role::baseline, what, std::move(prepare)};
}

/// The matrix with offsets of 32 bits, one copy in each memory for all rivals.
/// Errors  ResourceError if it has more entries than such offsets reach.
template <Backend B>
CsrView<double, std::int32_t, SpaceOf<B>> csr_of([[maybe_unused]] const B& on, MatrixOperand& operand) {
  if (!operand.narrow) operand.narrow = with_offsets<std::int32_t>(OpenMP{}, operand.A.view());
  if constexpr (HostBackend<B>) {
    return operand.narrow->view();
  } else {
    if (!operand.narrow_on_device) operand.narrow_on_device = copied_to<Device>(on, operand.narrow->view());
    return operand.narrow_on_device->view();
  }
}

/// Seconds of make(), with all that it leaves to a GPU.
template <class B, class Make>
double seconds_to_make(const B& on, const Make& make) {
  return seconds_of([&] {
    make();
    on.synchronize();
  });
}

/// An input and an output where a rival runs, and whatever else it keeps.
template <class B, class Kept, class In = double, class Out = double>
struct Operands {
  Operands(const Array<In>& input, const Where& where, std::int64_t output_size, Kept kept_)
      : on(back_end<B>(where)),
        x(copied_to<SpaceOf<B>>(on, input.span())),
        y(on, output_size),
        kept(std::move(kept_)) {}
  B on;
  Array<In, SpaceOf<B>> x;
  Array<Out, SpaceOf<B>> y;
  Kept kept;
};

/// NaN, or -1 where there is none: no rival leaves it.
template <class B, class T>
void poison(const B& on, Array<T, SpaceOf<B>>& y) {
  if constexpr (std::is_floating_point_v<T>) {
    fill<B, T>(on, y, std::numeric_limits<T>::quiet_NaN());
  } else if constexpr (HostBackend<B>) {
    std::fill(y.begin(), y.end(), T(-1));
  } else {
    const Array<T> wrong(y.size(), T(-1));
    copy(on, wrong.span(), y.span());
  }
}

/// A Prepared whose operation, run(result), allocates its result each time; answer(result) is what it left.
template <class Result, class Run, class ToAnswer>
Prepared allocating(Run run, ToAnswer answer) {
  const auto result = std::make_shared<Result>();
  return {.run = [result, run] { run(*result); },
          .poison = [result] { *result = Result(); },  // no answer at all, which no judge takes
          .answer = [result, answer] { return answer(*result); }};
}

/// A Prepared around operands whose operation is run(operands).
template <class B, class Kept, class In, class Out, class Run>
Prepared prepared(std::shared_ptr<Operands<B, Kept, In, Out>> operands, double setup_seconds,
                  std::int64_t workspace_bytes, Run run) {
  return {.run = [operands, run] { run(*operands); },
          .poison = [operands] { poison(operands->on, operands->y); },
          .answer =
              [operands] {
                Answer answer;
                answer.add(operands->on, std::as_const(operands->y).span());
                return answer;
              },
          .setup_seconds = setup_seconds,
          .workspace_bytes = workspace_bytes};
}

}  // namespace seidel::drivers
