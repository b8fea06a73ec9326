// The matrices of bench_symgs, in host memory: lattices, an irregular graph, a chain, dense rows, random patterns.
#pragma once
#include <omp.h>

#include <cstdio>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <seidel/formats/csr.hpp>

namespace bench {

using namespace seidel;

inline std::uint64_t mixed(std::uint64_t z) {  // splitmix64
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
/// In (0, 1).
inline double uniform(std::uint64_t seed, std::uint64_t i) { return (double(mixed(seed * 0x100000001b3ull + i) >> 11) + 0.5) * 0x1p-53; }
inline double uniform_pair(Index i, Index j) { return uniform(std::uint64_t(std::min(i, j)) << 32 | std::max(i, j), 1); }

template <class Real>
using Matrix = Csr<Real, std::int32_t, Host>;

/// columns(i, list) appends the columns of row i, in any order and with duplicates. Couplings are random in (-1, 0), the
/// diagonal is larger than their sum.
template <class Real>
Matrix<Real> from_columns(Index n, const std::function<void(Index, std::vector<Index>&)>& columns) {
  Matrix<Real> A;
  A.nrows = A.ncols = n;
  A.row_ptr = Array<std::int32_t>(n + 1);
  const auto each_row = [&](const auto& use) {
#pragma omp parallel
    {
      std::vector<Index> list;
#pragma omp for schedule(dynamic, 4096)
      for (Index i = 0; i < n; ++i) {
        list.assign(1, i);
        columns(i, list);
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        use(i, list);
      }
    }
  };
  each_row([&](Index i, const std::vector<Index>& list) { A.row_ptr[i + 1] = std::int32_t(list.size()); });
  A.row_ptr[0] = 0;
  for (Index i = 0; i < n; ++i) A.row_ptr[i + 1] += A.row_ptr[i];
  A.col_idx = Array<Index>(A.row_ptr[n]);
  A.values = Array<Real>(A.row_ptr[n]);
  each_row([&](Index i, const std::vector<Index>& list) {
    std::int32_t at = A.row_ptr[i];
    for (const Index j : list) {
      A.col_idx[at] = j;
      A.values[at++] = Real(j == i ? double(list.size()) + uniform(7, i) : -uniform_pair(i, j));
    }
  });
  return A;
}

/// Points of a lattice coupled to 6 neighbours (faces) or 26, `dofs` rows a point.
template <class Real>
Matrix<Real> lattice(Index nx, Index ny, Index nz, bool faces, int dofs) {
  return from_columns<Real>(nx * ny * nz * dofs, [=](Index i, std::vector<Index>& list) {
    const Index point = i / dofs, x = point % nx, y = point / nx % ny, z = point / nx / ny;
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          if (faces && dx * dx + dy * dy + dz * dz > 1) continue;
          if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
          for (int d = 0; d < dofs; ++d) list.push_back((((z + dz) * ny + y + dy) * nx + x + dx) * dofs + d);
        }
  });
}

/// A lattice of side g that lacks a fifth of its edges and has a few far ones a row instead, over less than `reach` rows.
template <class Real>
Matrix<Real> graph(Index g, double far, Index reach) {
  return from_columns<Real>(g * g * g, [=](Index i, std::vector<Index>& list) {
    const Index n = g * g * g, place[3] = {i % g, i / g % g, i / g / g}, step[3] = {1, g, g * g};
    for (int d = 0; d < 3; ++d)
      for (int sign : {-1, 1}) {
        if (place[d] + sign < 0 || place[d] + sign >= g) continue;
        if (uniform_pair(i, i + sign * step[d]) < 0.8) list.push_back(i + sign * step[d]);
      }
    for (int k = 0; k < 8; ++k) {
      const Index j = i ^ Index(mixed(k + 1) % std::uint64_t(reach));
      if (j < n && uniform(std::uint64_t(std::min(i, j)) << 32 | std::max(i, j), k + 100) < far / 8) list.push_back(j);
    }
  });
}

/// `per` random columns a row within `reach` rows; symmetric: both ways.
template <class Real>
Matrix<Real> random_pattern(Index n, int per, Index reach, bool symmetric, std::uint64_t seed) {
  std::vector<std::vector<Index>> rows(n);
  for (Index i = 0; i < n; ++i)
    for (int k = 0; k < per; ++k) {
      const std::int64_t j = i + std::int64_t(uniform(seed, std::uint64_t(i) * per + k) * (2.0 * reach + 1)) - reach;
      if (j < 0 || j >= n) continue;
      rows[i].push_back(Index(j));
      if (symmetric) rows[j].push_back(i);
    }
  return from_columns<Real>(n, [&](Index i, std::vector<Index>& list) { list.insert(list.end(), rows[i].begin(), rows[i].end()); });
}

/// A lattice with a few rows and columns that are full, of `length` entries.
template <class Real>
Matrix<Real> with_dense(Index g, Index length) {
  const Index n = g * g * g, dense[3] = {n / 3, n / 2, n - 1};
  return from_columns<Real>(n, [=](Index i, std::vector<Index>& list) {
    for (const Index d : {1, g, g * g})
      for (const Index j : {i - d, i + d})
        if (j >= 0 && j < n) list.push_back(j);
    for (const Index row : dense) {
      const Index step = std::max<Index>(n / length, 1);
      if (i % step == 0) list.push_back(row);
      if (i == row)
        for (Index j = 0; j < n; j += step) list.push_back(j);
    }
  });
}

/// By name, as in the tables.
template <class Real>
Matrix<Real> matrix(const std::string& name) {
  const auto colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  const Index size = colon == name.npos || kind == "file" ? 0 : Index(std::stol(name.substr(colon + 1)));
  if (kind == "poisson3d") return lattice<Real>(size, size, size, true, 1);
  if (kind == "poisson2d") return lattice<Real>(size, size, 1, true, 1);
  if (kind == "hpcg") return lattice<Real>(size, size, size, false, 1);
  if (kind == "elasticity") return lattice<Real>(size, size, size, false, 3);
  if (kind == "graph") return graph<Real>(size, 0.25, 1 << 16);
  if (kind == "farther") return graph<Real>(size, 0.25, 1 << 21);
  if (kind == "chain") return lattice<Real>(size, 1, 1, true, 1);
  if (kind == "dense") return with_dense<Real>(size, 100000);
  if (kind == "wide") return random_pattern<Real>(size, 120, size, true, 5);
  if (kind == "unsymmetric") return random_pattern<Real>(size, 8, 3000, false, 6);
  if (kind == "file") {  // rows, entries, row pointers, columns: 32 bits each; values of 64 bits
    std::FILE* const f = std::fopen(name.c_str() + 5, "rb");
    std::int32_t head[2];
    if (!f || std::fread(head, 4, 2, f) != 2) throw UsageError("cannot read " + name);
    std::vector<double> values(head[1]);
    Matrix<Real> A{head[0], head[0], Array<std::int32_t>(head[0] + 1), Array<Index>(head[1]), Array<Real>(head[1])};
    if (std::fread(A.row_ptr.data(), 4, head[0] + 1, f) + std::fread(A.col_idx.data(), 4, head[1], f) + std::fread(values.data(), 8, head[1], f) == 0)
      throw UsageError("cannot read " + name);
    std::fclose(f);
    std::copy(values.begin(), values.end(), A.values.begin());
    return A;
  }
  throw UsageError("no matrix named " + name +
                   "; there are poisson2d:N poisson3d:N hpcg:N elasticity:N graph:N farther:N chain:N dense:N wide:N unsymmetric:N");
}

}  // namespace bench
