// What the entry of a method in the table (methods.hpp) is made with.
#pragma once
#include <seidel/kernels/distributed/blas1.hpp>
#include <seidel/solvers/any.hpp>
#include <seidel/solvers/choose_method.hpp>

namespace seidel {

namespace methods_detail {
/// Method::run of a lambda whose parameters are `auto`.
template <bool on_many_processes = built_with_mpi, class Run>
constexpr decltype(Method::run) runs(Run run) {
  decltype(Method::run) all{run, nullptr, nullptr, nullptr};
  if constexpr (built_with_cuda) std::get<1>(all) = run;
  if constexpr (on_many_processes) std::get<2>(all) = run;
  if constexpr (on_many_processes && built_with_cuda) std::get<3>(all) = run;
  return all;
}
}  // namespace methods_detail

}  // namespace seidel
