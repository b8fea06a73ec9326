// The table of methods. A new one: its header, its entry (as cg.cpp), its two lines here, its test.
#pragma once
#include <cstdint>
#include <functional>
#include <tuple>

#include <seidel/formats/runtime/distributed.hpp>
#include <seidel/solvers/settings.hpp>

namespace seidel {

template <class Real, Backend B>
class Vector;
template <class V>
class AnyOperator;
template <class V>
class AnyPreconditioner;
struct Criteria;
struct MethodChoice;
struct Summary;

/// Solves A x = b as the method's own header says, with the details of a choice.
template <class V>
using RunMethod = Summary (*)(const AnyOperator<V>& A, const AnyPreconditioner<V>& M, const MethodChoice& choice,
                              const V& b, V& x, const Criteria& criteria);

/// What a method needs of A, from little to much. Where A must be symmetric, M must be symmetric positive definite.
enum class Needs { nothing, square, symmetric, definite };

/// What everybody else needs to know of a method.
struct Method {
  std::string_view name, help;
  Needs needs = Needs::square;
  bool takes_nonlinear = false;     // preconditioners that are not linear (concepts.hpp)
  std::string_view only_with = {};  // the one preconditioner that it takes; empty: any
  std::span<const Setting> settings = {};
  std::int64_t (*vectors)(const MethodChoice& choice) = nullptr;  // held in its loop, beside x, b and the best x so far
  std::int64_t vectors_like_b = 0;  // held, too, where A may be rectangular; the others are like x
  /// Of each back end; null where that is not built.
  std::tuple<RunMethod<Vector<double, OpenMP>>, RunMethod<Vector<double, Cuda>>,
             RunMethod<Vector<double, Distributed<OpenMP>>>, RunMethod<Vector<double, Distributed<Cuda>>>>
      run = {};

  bool takes(std::string_view preconditioner) const { return only_with.empty() || only_with == preconditioner; }

  static const Method cg, minres, bicgstab, idr, gmres, multigrid;
  static const Method lsmr;
  friend bool operator==(const Method& a, const Method& b) { return a.name == b.name; }
};
inline constexpr std::reference_wrapper<const Method> methods[] = {
    Method::cg, Method::minres, Method::bicgstab, Method::idr, Method::gmres, Method::multigrid, Method::lsmr};

inline std::string_view to_string(const Method& method) { return method.name; }

}  // namespace seidel
