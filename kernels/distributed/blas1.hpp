// Vector operations where several processes share the elements: as declared in kernels/blas1/blas1.hpp.
#pragma once
#include <cmath>
#include <numeric>
#include <vector>

#include <seidel/kernels/sum.hpp>
#include <seidel/kernels/vector.hpp>

namespace seidel {

template <class Real, Backend B>
std::int64_t global_size(const Vector<Real, Distributed<B>>& v) {
  return v.on().rows().shares.n();
}
template <Backend B>
std::int64_t first_element(const Distributed<B>& on) {
  return on.rows().first();
}

namespace distributed_detail {

/// `mine` of all processes, each with counts[p] numbers, which process 0 follows with its wish to stop.
inline std::vector<double> gathered(const SharedRows& rows, std::vector<double> mine, std::vector<int> counts) {
  if (rows.all.rank() == 0) mine.push_back(rows.wants_stop());
  const int place = counts[0]++;
  std::vector<double> all(std::size_t(std::accumulate(counts.begin(), counts.end(), std::int64_t(0))));
  rows.all.gather({mine.data(), std::int64_t(mine.size())}, counts, all.data());
  if (all[std::size_t(place)] != 0) rows.stop = true;
  all.erase(all.begin() + place);
  return all;
}

/// sums[j] = the tree over mine[u * nsums + j] of all units of all processes.
template <class Real>
void add_units(const SharedRows& rows, std::vector<double> mine, std::int64_t nsums, Real* sums) {
  std::vector<int> counts(std::size_t(rows.all.size()));
  for (int p = 0; p < rows.all.size(); ++p) counts[std::size_t(p)] = int(rows.shares.units(p) * nsums);
  const std::vector<double> all = gathered(rows, std::move(mine), std::move(counts));
  for (std::int64_t j = 0; j < nsums; ++j) {
    PairwiseTree<Real> tree;
    for (std::size_t k = std::size_t(j); k < all.size(); k += std::size_t(nsums)) tree.push(Real(all[k]));
    sums[j] = tree.sum();
  }
}

/// The sums of the units here; of a vector that is short as a whole, its sum, on process 0, which has all of it.
template <Backend B, class Pass>
std::vector<double> sums_here(const Distributed<B>& on, std::int64_t n, const Pass& pass) {
  const SharedRows& rows = on.rows();
  std::vector<double> mine(std::size_t(rows.shares.units(rows.all.rank()) * Pass::nsums));
  if (n == 0) return mine;
  if (rows.shares.n() <= short_sum)
    blas1::run_pass(on.local(), n, pass, mine.data());
  else
    blas1::unit_sums(on.local(), n, pass, rows.shares.unit(), mine.data());
  return mine;
}

}  // namespace distributed_detail

namespace blas1 {

template <Backend B>
void for_each_element(const Distributed<B>& on, std::int64_t n, const auto& op) {
  for_each_element(on.local(), n, op);
}

template <class Real, Backend B, class Pass>
void run_pass(const Distributed<B>& on, std::int64_t n, const Pass& pass, Real* sums) {
  distributed_detail::add_units(on.rows(), distributed_detail::sums_here(on, n, pass), Pass::nsums, sums);
}

template <class Real, Backend B, class Pass>
void leave_sums(const Distributed<B>& on, std::int64_t n, const Pass& pass, Real* sums) {
  run_pass(on, n, pass, sums);
}

template <Backend B, class Real, class Pass>
void run_passes(const Distributed<B>& on, std::int64_t n, const Pass* passes, int count, Real* sums) {
  for (int p = 0; p < count; ++p) run_pass(on, n, passes[p], sums + p * Pass::nsums);
}

template <class Real, Backend B>
Real max_abs(const Distributed<B>& on, const Real* x, std::int64_t n) {
  std::vector<int> counts(std::size_t(on.rows().all.size()), 1);
  Real largest = 0;
  for (const double m : distributed_detail::gathered(on.rows(), {double(max_abs(on.local(), x, n))}, std::move(counts)))
    if (!(largest != largest || m <= largest)) largest = Real(m);
  return largest;
}

/// As many sums as there are columns travel together.
template <class Real, Backend B>
void project(const Distributed<B>& on, const Columns<Real>& v, const Real* w, Real* sums) {
  const std::int64_t nsums = v.k + 1;
  std::vector<double> mine;
  for (std::int64_t i = 0; i < nsums; ++i) {
    const auto column =
        distributed_detail::sums_here(on, v.n, Dots<Real, 1>{{i < v.k ? v.first + i * v.stride : w}, {w}});
    if (mine.empty()) mine.resize(column.size() * std::size_t(nsums));
    for (std::size_t u = 0; u < column.size(); ++u) mine[u * std::size_t(nsums) + std::size_t(i)] = column[u];
  }
  distributed_detail::add_units(on.rows(), std::move(mine), nsums, sums);
}

template <class Real, Backend B>
void add_combination(const Distributed<B>& on, const Columns<Real>& v, Real sign, const Real* c, Real scale, Real* w) {
  add_combination(on.local(), v, sign, c, scale, w);
}

}  // namespace blas1

/// The first entry of the whole vector that is NaN or infinite, counted from 0; -1 if none is.
template <class Real, Backend B>
std::int64_t first_nonfinite(const Vector<Real, Distributed<B>>& v) {
  const B& on = v.on().local();
  std::int64_t here = -1;
  const Array<Real> on_host = copied_to<Host>(on, v.span());
  for (std::int64_t i = 0; i < on_host.size() && here < 0; ++i)
    if (!std::isfinite(on_host[i])) here = v.on().rows().first() + i;
  std::vector<int> counts(std::size_t(v.on().rows().all.size()), 1);
  for (const double found : distributed_detail::gathered(v.on().rows(), {double(here)}, std::move(counts)))
    if (found >= 0) return std::int64_t(found);
  return -1;
}

}  // namespace seidel
