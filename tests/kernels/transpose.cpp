// Transposition: every way of it gives what sorting the entries gives, and the prepared form takes new values.
#include <seidel/kernels/transpose/transpose.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>

#include <seidel/formats/convert/cuda_mirror_kinds.hpp>
#include <seidel/formats/convert/mirror_kinds.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/runtime/parallel.hpp>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Entries sorted by column, stably: those of a column stay in the order of rows, and of a row in their own.
template <class Real, class Offset>
Csr<Real, Offset> sorted_transpose(const CsrView<Real, Offset, Host>& A) {
  std::vector<Offset> order(static_cast<std::size_t>(A.col_idx.size()));
  std::iota(order.begin(), order.end(), Offset(0));
  std::stable_sort(order.begin(), order.end(), [&](Offset a, Offset b) { return A.col_idx[a] < A.col_idx[b]; });
  Csr<Real, Offset> T{A.ncols, A.nrows, Array<Offset>(A.ncols + std::int64_t(1), Offset(0)),
                      Array<Index>(A.col_idx.size()), Array<Real>(A.values.size())};
  for (const Index j : A.col_idx) ++T.row_ptr[j + std::int64_t(1)];
  for (Index j = 0; j < A.ncols; ++j) T.row_ptr[j + std::int64_t(1)] += T.row_ptr[j];
  for (std::int64_t k = 0; k < A.col_idx.size(); ++k) {
    const Offset from = order[std::size_t(k)];
    T.col_idx[k] = Index(std::upper_bound(A.row_ptr.begin(), A.row_ptr.end(), from) - A.row_ptr.begin() - 1);
    if (!A.values.empty()) T.values[k] = A.values[from];
  }
  return T;
}

template <class B, class Real, class Offset, class Space>
Csr<Real, Offset> here(const B& on, const Csr<Real, Offset, Space>& T) {
  return {T.nrows, T.ncols, Array<Offset>(moved_back(on, T.row_ptr)), Array<Index>(moved_back(on, T.col_idx)),
          Array<Real>(moved_back(on, T.values))};
}

/// Transposed on a back end by way(view of A there, result) into an array of numbers that no transpose has.
template <class B, class Real, class Offset, class Way>
Csr<Real, Offset> transposed_by(const B& on, const CsrView<Real, Offset, Host>& A, const Way& way) {
  using Space = typename B::Space;
  const auto moved = [&](auto span) {
    using T = std::remove_const_t<std::remove_reference_t<decltype(span[0])>>;
    return Array<T, Space>(on, std::vector<T>(span.begin(), span.end()));
  };
  const auto ptr = moved(A.row_ptr);
  const auto idx = moved(A.col_idx);
  const auto values = moved(A.values);
  const CsrView<Real, Offset, Space> there{A.nrows, A.ncols, ptr, idx, values};
  Csr<Real, Offset, Space> T{A.ncols, A.nrows,
                             Array<Offset, Space>(on, std::vector<Offset>(std::size_t(A.ncols) + 1, Offset(-1))),
                             Array<Index, Space>(on, std::vector<Index>(std::size_t(A.col_idx.size()), -1)),
                             Array<Real, Space>(on, std::vector<Real>(std::size_t(A.values.size()), Real(-1)))};
  way(there, T);
  return here(on, T);
}
template <class B, class Real, class Offset>
Csr<Real, Offset> transposed(const B& on, const CsrView<Real, Offset, Host>& A, TransposeReport* report = nullptr) {
  return transposed_by(on, A, [&](const auto& there, auto& T) { transpose(on, there, T, report); });
}

/// On every back end, in both precisions, with both offsets, and the structure alone.
void check_all(const Matrix& A) {
  const auto narrow = as<double, std::int32_t>(A);
  const auto single = as<float, std::int32_t>(A);
  const auto wide_single = as<float, std::int64_t>(A);
  const CsrView<double, std::int32_t, Host> structure{A.nrows, A.ncols, narrow.row_ptr, narrow.col_idx, {}};
  on_every_backend([&](const auto& on) {
    CHECK(same_matrix(transposed(on, A.view()), sorted_transpose(A.view())));
    CHECK(same_matrix(transposed(on, narrow.view()), sorted_transpose(narrow.view())));
    CHECK(same_matrix(transposed(on, single.view()), sorted_transpose(single.view())));
    CHECK(same_matrix(transposed(on, wide_single.view()), sorted_transpose(wide_single.view())));
    CHECK(same_matrix(transposed(on, structure), sorted_transpose(structure)));
  });
}

/// What the host does with these, other tests say.
void check_on_gpu(const Matrix& A) {
  const auto narrow = as<double, std::int32_t>(A);
  const CsrView<double, std::int32_t, Host> structure{A.nrows, A.ncols, narrow.row_ptr, narrow.col_idx, {}};
  on_every_backend([&](const auto& on) {
    if constexpr (std::is_same_v<std::decay_t<decltype(on)>, Cuda>) {
      CHECK(same_matrix(transposed(on, A.view()), sorted_transpose(A.view())));
      CHECK(same_matrix(transposed(on, structure), sorted_transpose(structure)));
    }
  });
}

struct Entry {
  Index row, col;
};
/// Rows of entries in the order given, which need not ascend; values are numbers.
Matrix matrix_of_entries(Index nrows, Index ncols, std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
  const auto n = std::int64_t(entries.size());
  Matrix A{nrows, ncols, Array<std::int64_t>(nrows + std::int64_t(1), 0), Array<Index>(n), Array<double>(n)};
  for (std::int64_t k = 0; k < n; ++k) {
    ++A.row_ptr[entries[std::size_t(k)].row + std::int64_t(1)];
    A.col_idx[k] = entries[std::size_t(k)].col;
    A.values[k] = double(k + 1);
  }
  for (Index i = 0; i < nrows; ++i) A.row_ptr[i + std::int64_t(1)] += A.row_ptr[i];
  return A;
}

/// n entries anywhere, in any order, some of them twice in a place.
Matrix scattered(unsigned seed, Index nrows, Index ncols, std::int64_t n) {
  std::mt19937_64 random(seed);
  std::vector<Entry> entries;
  for (std::int64_t k = 0; k < n; ++k)
    entries.push_back({Index(random() % std::uint64_t(nrows)), Index(random() % std::uint64_t(ncols))});
  return matrix_of_entries(nrows, ncols, entries);
}

/// A with the entries of A' as well.
Matrix made_symmetric(const Matrix& A) {
  std::vector<Row> rows(static_cast<std::size_t>(A.nrows));
  double value = 0;
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
      rows[std::size_t(i)][A.col_idx[k]] = ++value;
      rows[std::size_t(A.col_idx[k])][i] = ++value;
    }
  return matrix_of(A.ncols, rows);
}

}  // namespace

TEST_CASE("awkward matrices are transposed as a stable sort of their entries does it") {
  for (const NamedMatrix& named : awkward_matrices()) {
    CAPTURE(named.name);
    check_all(named.matrix);
  }
}

TEST_CASE("entries in any order and several in a place keep their order") {
  const unsigned seed = fresh_seed();
  for (const auto& [nrows, ncols, n] : {std::array<std::int64_t, 3>{1, 1, 5},
                                        {1, 70000, 40000},
                                        {70000, 1, 40000},
                                        {3, 3, 100000},
                                        {257, 300, 60000},
                                        {20000, 20000, 120000},
                                        {40, 2'000'000, 90000},
                                        {40, 3'000'000, 90000},
                                        {3'000'000, 2'000'000, 60000},
                                        {5000, 70000, 300000}}) {
    CAPTURE(nrows);
    CAPTURE(ncols);
    check_all(scattered(seed, Index(nrows), Index(ncols), n));
  }
}

TEST_CASE("a row and the low bits of a column that just fit in a word of 32 bits, and one row more") {
  constexpr Index ncols = 1 << 20;  // 16 buckets of 2^16 columns, for 65536 entries
  std::mt19937_64 random(fresh_seed());
  for (const Index nrows : {65536, 65537}) {
    CAPTURE(nrows);
    std::vector<Entry> entries{{nrows - 1, ncols - 1}, {nrows - 1, 0}, {0, ncols - 1}};
    for (Index i = 0; i < 65536; i += 8)
      for (int k = 0; k < 8; ++k) entries.push_back({i, Index(random() % ncols)});
    check_all(matrix_of_entries(nrows, ncols, entries));
  }
}

TEST_CASE("tiles and buckets of a GPU that are just full, and one entry more or fewer") {
  const unsigned seed = fresh_seed();
  for (const std::int64_t n : {4095, 4096, 4097, 49151, 49152, 49153}) {
    CAPTURE(n);
    check_all(scattered(seed, 3000, 5000, n));
  }
  for (const std::int64_t n : {10239, 10240, 10241, 21503, 21504, 21505}) {
    CAPTURE(n);
    check_all(scattered(seed, 9000, 2, n));  // one bucket
  }
}

TEST_CASE("tiles of a GPU for more than 512 buckets that are just full, and one entry more or fewer") {
  for (const std::int64_t n : {31, 32, 33, 16383, 16384, 16385, 24575, 24576, 24577, 65537})
    for (const Index buckets : {700, 1500, 4096}) {
      CAPTURE(n);
      CAPTURE(buckets);
      Matrix A = scattered(fresh_seed(), 3000, buckets * 2048, n);
      for (std::int64_t k = std::max<std::int64_t>(n - 200, 0); k < n; ++k)
        A.col_idx[k] = A.ncols - 1 - Index(k % 3);  // the last bucket, in the last tile
      check_on_gpu(A);
    }
}

TEST_CASE("buckets of a GPU that some tiles fill alone, and others leave empty") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  for (const std::int64_t tile : {4096, 16384, 24576})
    for (const Index buckets : {400, 700, 1500, 4000}) {
      CAPTURE(tile);
      CAPTURE(buckets);
      Matrix A = scattered(seed, 5000, buckets * 2048, 5 * tile - 77);
      for (std::int64_t k = 0; k < A.nnz(); ++k) {
        Index& column = A.col_idx[k];
        switch (k / tile) {
          case 0: column = 2048 * 3 + Index(random() % 2048); break;                     // one bucket
          case 1: column = column / 2048 % 3 > 0 ? column : Index(random() % 2); break;  // two of three, and the first
          case 2: column = A.ncols - 1 - Index(random() % 2000); break;                  // the last one
          case 3: column -= column / 2048 % 2 * 2048; break;                             // every other one
        }
      }
      check_on_gpu(A);
    }
}

TEST_CASE("thousands of buckets of a GPU whose columns are unevenly filled") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  for (const Index ncols : {3'000'000, 6'000'000}) {
    CAPTURE(ncols);
    for (const bool is_banded : {false, true}) {
      CAPTURE(is_banded);
      Matrix A = scattered(seed, 60000, ncols, 200000);
      for (std::int64_t k = 0; k < A.col_idx.size(); ++k) {
        if (is_banded)
          A.col_idx[k] = Index(std::int64_t(k) * (ncols - 5000) / A.col_idx.size() + std::int64_t(random() % 5000));
        if (random() % 5 == 0) A.col_idx[k] = ncols / 3;  // a column that needs no sort
      }
      check_on_gpu(A);
    }
  }
}

TEST_CASE("more unevenly filled columns than a GPU cuts in one piece per block") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  Matrix A = scattered(seed, 60000, 2'500'000, 2'600'000);
  for (Index& column : A.col_idx)
    if (random() % 50 == 0) column = A.ncols / 3 + Index(random() % 2);  // two columns that need no sort
  check_on_gpu(A);
}

TEST_CASE("columns and values need no more alignment than a number has") {
  const Csr<float, std::int32_t> A = as<float, std::int32_t>(scattered(fresh_seed(), 4000, 3000, 50000));
  const Csr<float, std::int32_t> expected = sorted_transpose(A.view());
  on_every_backend([&](const auto& on) {
    using Space = typename std::decay_t<decltype(on)>::Space;
    std::vector<float> shifted(A.values.begin(), A.values.end());
    shifted.insert(shifted.begin(), -1.0f);
    std::vector<Index> columns(A.col_idx.begin(), A.col_idx.end());
    columns.insert(columns.begin(), -1);
    const Array<float, Space> values(on, shifted);
    const Array<std::int32_t, Space> ptr(on, std::vector<std::int32_t>(A.row_ptr.begin(), A.row_ptr.end()));
    const Array<Index, Space> idx(on, columns);
    const CsrView<float, std::int32_t, Space> there{
        A.nrows, A.ncols, ptr, {idx.data() + 1, A.col_idx.size()}, {values.data() + 1, A.values.size()}};
    CHECK(same_matrix(here(on, transpose(on, there)), expected));
  });
}

TEST_CASE("the host takes what a plan says besides the result: 8 bytes per entry where 32 bits do not tell a place") {
  for (const auto& [spec, wide] :
       {std::pair{"random:200000x8000000:300000", true}, {"random:60000x60000:300000", false}}) {
    CAPTURE(spec);
    const auto A = generate(OpenMP{}, spec);
    const std::int64_t planned = max_transpose_workspace(A.nrows, A.ncols, A.nnz());
    CHECK(planned == 16 * std::min<std::int64_t>(A.ncols, A.nnz()));  // more than 8 bytes per entry would be
    for (const int threads : {1, 2}) {
      TransposeReport report;
      CHECK(same_matrix(transposed(OpenMP{threads}, A.view(), &report), sorted_transpose(A.view())));
      if (wide) CHECK(report.workspace_bytes >= 8 * A.nnz());
      CHECK(report.workspace_bytes <= planned + threads * std::int64_t(2'000'000));
    }
  }
  CHECK(max_transpose_workspace(0, 0, 0) == 0);
}

TEST_CASE("the host takes what a plan says where a few entries lie far from the others, for any number of threads") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  constexpr Index n = 1'000'000;
  for (const bool symmetric : {false, true}) {
    CAPTURE(symmetric);
    std::vector<std::vector<Index>> columns(n);
    for (Index i = 0; i < n; ++i)
      for (const Index j : {i - 1, i, i + 1})
        if (j >= 0 && j < n) columns[std::size_t(i)].push_back(j);
    for (int far = 0; far < 100; ++far) {
      const auto i = random() % n, j = random() % n;
      columns[i].push_back(Index(j));
      if (symmetric) columns[j].push_back(Index(i));
    }
    std::vector<std::int64_t> row_ptr{0};
    std::vector<Index> col_idx;
    for (auto& row : columns) {
      std::ranges::sort(row);
      col_idx.insert(col_idx.end(), row.begin(), std::ranges::unique(row).begin());
      row_ptr.push_back(std::int64_t(col_idx.size()));
    }
    std::vector<double> values(col_idx.size());
    std::iota(values.begin(), values.end(), 1.0);
    const CsrView<double, std::int64_t, Host> A{
        n, n, {row_ptr.data(), n + 1}, {col_idx.data(), row_ptr.back()}, {values.data(), row_ptr.back()}};
    const auto expected = sorted_transpose(A);
    for (const int threads : {1, 8}) {
      TransposeReport report;
      CHECK(same_matrix(transposed(OpenMP{threads}, A, &report), expected));
      CHECK(report.workspace_bytes <= max_transpose_workspace(n, n, A.nnz()) + threads * std::int64_t(2'000'000));
    }
  }
}

TEST_CASE("a GPU takes at most 8 bytes per entry besides the result, and less where columns are evenly filled") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  constexpr std::int64_t n = 400000;
  const auto bytes = [](const auto& on, const Matrix& A) {
    TransposeReport report;
    CHECK(same_matrix(transposed(on, A.view(), &report), sorted_transpose(A.view())));
    return report.workspace_bytes;
  };
  const auto uniform = [&] { return double(random() >> 11) * 0x1p-53; };
  for (const auto& [nrows, ncols] : {std::array<Index, 2>{30000, 50000}, {50000, 50000}, {1 << 24, 300000}}) {
    CAPTURE(nrows);
    const Matrix even = scattered(seed, nrows, ncols, n);
    std::vector<Matrix> uneven;
    for (int p : {2, 4, 30}) {
      uneven.push_back(copy_of(even));
      for (Index& column : uneven.back().col_idx) column = Index(std::pow(uniform(), p) * ncols);
    }
    uneven.push_back(copy_of(even));  // 300 full columns, and others between them
    for (Index& column : uneven.back().col_idx)
      if (random() % 50 > 0) column = Index(random() % 300 * 7);
    uneven.push_back(copy_of(even));  // one column with nearly everything
    for (Index& column : uneven.back().col_idx)
      if (random() % 50 > 0) column = ncols / 3;
    on_every_backend([&](const auto& on) {
      if constexpr (std::is_same_v<std::decay_t<decltype(on)>, Cuda>) {
        if (nrows <= 50000) CHECK(bytes(on, even) <= 2 * n);
        for (const Matrix& A : uneven) CHECK(bytes(on, A) <= 8 * n);
      }
    });
  }
}

TEST_CASE("buckets of a GPU that a sample of the entries misjudges") {
  std::vector<Entry> entries;  // one of three is looked at, and those are spread; the others stand in 40 columns
  constexpr std::int64_t step = 3, n = step << 18;
  for (std::int64_t i = 0; i < n / step; ++i)
    for (unsigned j = 0; j < step; ++j) {
      const bool is_seen = j == (unsigned(i) * 2654435761u >> 8) % step;
      entries.push_back({Index(i), is_seen ? Index(i % 65536) : Index(1000 + (i * 7 + j) % 40)});
    }
  check_on_gpu(matrix_of_entries(n / step, 65536, entries));
}

TEST_CASE("so many columns that a GPU takes them in parts") {
  const unsigned seed = fresh_seed();
  Matrix A = scattered(seed, 300000, 9'000'000, 700000);
  check_on_gpu(A);
  std::mt19937_64 random(seed);
  for (Index& column : A.col_idx)
    if (random() % 3 > 0) column = 5'000'001 + Index(random() % 4);  // fuller than a part has room for
  check_on_gpu(A);
}

TEST_CASE("a column with everything, beside empty ones, is as good as any") {
  std::vector<Entry> one, all_but_few;
  for (Index i = 0; i < 60000; ++i) one.push_back({i, 40001});
  check_all(matrix_of_entries(60000, 100000, one));
  for (Index i = 0; i < 60000; ++i) {
    all_but_few.push_back({i, 777});
    if (i % 100 == 0) all_but_few.push_back({i, Index(i % 1000)});
  }
  check_all(matrix_of_entries(60000, 1000, all_but_few));
}

TEST_CASE("rows whose columns move with them, so that threads meet few columns of each other's") {
  std::mt19937_64 random(fresh_seed());
  std::vector<Entry> entries;
  for (Index i = 0; i < 40000; ++i)
    for (int k = 0; k < 3; ++k) entries.push_back({i, Index(i + i / 2 + Index(random() % 900))});
  check_all(matrix_of_entries(40000, 61000, entries));
}

TEST_CASE("a symmetric pattern is mirrored, and one entry without its image is not") {
  const unsigned seed = fresh_seed();
  const std::vector<Matrix> symmetric = [&] {
    std::vector<Matrix> all;
    all.push_back(generate(OpenMP{1}, "poisson3d:17"));
    all.push_back(generate(OpenMP{1}, "hpcg:13"));
    all.push_back(generate(OpenMP{1}, "elasticity3d:5"));
    all.push_back(made_symmetric(scattered(seed, 3000, 3000, 20000)));
    all.push_back(made_symmetric(matrix_of_entries(5000, 5000, [] {
      std::vector<Entry> arrow;  // a full row and column
      for (Index i = 0; i < 5000; ++i) arrow.push_back({2500, i}), arrow.push_back({i, i});
      return arrow;
    }())));
    return all;
  }();
  for (const Matrix& A : symmetric) {
    CAPTURE(A.nrows);
    check_all(A);
    const Matrix expected = sorted_transpose(A.view());
    on_every_backend([&](const auto& on) {
      TransposeReport report;
      CHECK(same_matrix(transposed(on, A.view(), &report), expected));
      CHECK(report.is_mirrored);
      std::int64_t cursors = 0;
      if constexpr (requires { on.threads; }) cursors = on.threads * std::int64_t(A.ncols);
      std::int64_t counts = 0;  // of entries that were counted while some rows were looked at
      if constexpr (std::is_same_v<std::decay_t<decltype(on)>, Cuda>) counts = A.nnz() + 10'000;
      CHECK(report.workspace_bytes <= cursors * std::int64_t(sizeof(std::int64_t)) + counts);
    });
    // One entry off the diagonal moves to a place that its row does not have: it has no image, nor has its old image.
    std::mt19937_64 random(seed + 1);
    for (int repeat = 0; repeat < 5; ++repeat) {
      Matrix B = copy_of(A);
      const auto moved = [&] {
        for (;;) {
          const Index i = Index(random() % std::uint64_t(B.nrows)), to = Index(random() % std::uint64_t(B.ncols));
          const auto first = B.col_idx.begin() + B.row_ptr[i], last = B.col_idx.begin() + B.row_ptr[i + 1];
          if (first == last || to == i || std::binary_search(first, last, to)) continue;
          const auto from = first + std::int64_t(random() % std::uint64_t(last - first));
          if (*from == i) continue;
          *from = to;
          std::sort(first, last);
          return;
        }
      };
      moved();
      on_every_backend([&](const auto& on) {
        TransposeReport report{.is_mirrored = true};
        CHECK(same_matrix(transposed(on, B.view(), &report), sorted_transpose(B.view())));
        CHECK(!report.is_mirrored);
      });
    }
  }
}

namespace {

/// Each entry of A becomes a full block of size x size: a matrix with `size` unknowns per node.
Matrix with_unknowns(const Matrix& A, Index size) {
  std::vector<Entry> entries;
  for (Index i = 0; i < A.nrows; ++i)
    for (Index a = 0; a < size; ++a)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        for (Index b = 0; b < size; ++b) entries.push_back({i * size + a, A.col_idx[k] * size + b});
  return matrix_of_entries(A.nrows * size, A.ncols * size, entries);
}

/// A without the entries for which `is_gone` says so.
template <class IsGone>
Matrix without(const Matrix& A, const IsGone& is_gone) {
  std::vector<Entry> entries;
  for (Index i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (!is_gone(i, A.col_idx[k])) entries.push_back({i, A.col_idx[k]});
  return matrix_of_entries(A.nrows, A.ncols, entries);
}

}  // namespace

TEST_CASE("nodes with several unknowns are mirrored node by node, and one that is not whole is noticed") {
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  std::vector<Matrix> graphs;
  graphs.push_back(generate(OpenMP{1}, "poisson3d:9"));
  graphs.push_back(generate(OpenMP{1}, "hpcg:7"));
  graphs.push_back(made_symmetric(scattered(seed, 300, 300, 300)));  // with empty rows
  graphs.push_back(made_symmetric(matrix_of_entries(131, 131, [] {
    std::vector<Entry> arrow;  // a row longer than what a warp takes at once
    for (Index i = 0; i < 131; ++i) arrow.push_back({60, i}), arrow.push_back({i, i});
    return arrow;
  }())));
  for (const Matrix& graph : graphs)
    for (const Index size : {2, 3, 4, 5, 6}) {
      CAPTURE(graph.nrows);
      CAPTURE(size);
      const Matrix A = with_unknowns(graph, size);
      check_all(A);
      const auto is_mirrored = [&](const auto& on, const Matrix& B) {
        TransposeReport report;
        CHECK(same_matrix(transposed(on, B.view(), &report), sorted_transpose(B.view())));
        return report.is_mirrored;
      };
      Index row = 0, col = 0;  // an entry off the diagonal
      do {
        row = Index(random() % std::uint64_t(A.nrows));
        const std::int64_t begin = A.row_ptr[row], length = A.row_ptr[row + std::int64_t(1)] - begin;
        col = length > 0 ? A.col_idx[begin + std::int64_t(random() % std::uint64_t(length))] : row;
      } while (row / size == col / size);
      const Matrix one_gone = without(A, [&](Index i, Index j) { return i == row && j == col; });
      const Matrix two_gone =
          without(A, [&](Index i, Index j) { return (i == row && j == col) || (i == col && j == row); });
      const Matrix block_gone =
          without(A, [&](Index i, Index j) { return i / size == row / size && j / size == col / size; });
      Matrix swapped = copy_of(A);  // two unknowns of a node, in one row
      std::swap(swapped.col_idx[swapped.row_ptr[row]], swapped.col_idx[swapped.row_ptr[row] + 1]);
      on_every_backend([&](const auto& on) {
        CHECK(is_mirrored(on, A));
        CHECK(is_mirrored(on, two_gone));
        CHECK(!is_mirrored(on, one_gone));
        CHECK(!is_mirrored(on, block_gone));
        CHECK(!is_mirrored(on, swapped));
      });
    }
}

namespace {

/// Whether A is transposed by kinds of rows; if so, the result is right. A small lattice would not be asked for its kinds
/// otherwise. max_length is that of a GPU.
template <class B, class Real, class Offset>
bool has_kinds(const B& on, const CsrView<Real, Offset, Host>& A, int max_length = convert_detail::max_kind_length) {
  using Value = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  bool done = false;
  const auto T = transposed_by(on, A, [&](const auto& there, auto& to) {
    if constexpr (HostBackend<B>) {
      done = convert_detail::mirror_by_kinds(
                 on, there,
                 convert_detail::Grouped<Real, Offset>{A.ncols, to.row_ptr.data(), to.col_idx.data(), to.values.data()})
                 .has_value();
    } else {
      const convert_detail::Transposing<Value, Offset> of{.nrows = A.nrows,
                                                          .ncols = A.ncols,
                                                          .nnz = A.col_idx.size(),
                                                          .row_ptr = there.row_ptr.data(),
                                                          .col_idx = there.col_idx.data(),
                                                          .values = reinterpret_cast<const Value*>(there.values.data()),
                                                          .to_ptr = to.row_ptr.data(),
                                                          .to_idx = to.col_idx.data(),
                                                          .to_values = reinterpret_cast<Value*>(to.values.data())};
      done = convert_detail::transpose_by_kinds(on, of, max_length).has_value();
    }
  });
  if (done) CHECK(same_matrix(T, sorted_transpose(A)));
  return done;
}
/// The same for all types, and for the structure alone.
template <class B>
bool all_have_kinds(const B& on, const Matrix& A, int max_length = convert_detail::max_kind_length) {
  const auto narrow = as<double, std::int32_t>(A);
  const CsrView<double, std::int32_t, Host> structure{A.nrows, A.ncols, narrow.row_ptr, narrow.col_idx, {}};
  const bool first = has_kinds(on, A.view(), max_length);
  CHECK(has_kinds(on, narrow.view(), max_length) == first);
  CHECK(has_kinds(on, as<float, std::int32_t>(A).view(), max_length) == first);
  CHECK(has_kinds(on, as<float, std::int64_t>(A).view(), max_length) == first);
  CHECK(has_kinds(on, structure, max_length) == first);
  return first;
}

/// Entries (i, j) and (j, i) where is_there(i, j), i <= j.
template <class IsThere>
Matrix symmetric_band(Index nrows, Index width, const IsThere& is_there) {
  std::vector<Entry> entries;
  for (Index i = 0; i < nrows; ++i)
    for (Index j = std::max(0, i - width); j <= std::min(nrows - 1, i + width); ++j)
      if (is_there(std::min(i, j), std::max(i, j))) entries.push_back({i, j});
  return matrix_of_entries(nrows, nrows, entries);
}

}  // namespace

TEST_CASE("rows of few kinds are mirrored by their kinds") {
  std::mt19937_64 random(fresh_seed());
  std::vector<Matrix> all;
  for (const char* name : {"poisson2d:40x33", "poisson3d:17", "poisson3d:1x1x300", "poisson3d:31x32x33",
                           "poisson3d:128x5x3", "hpcg:13x7x5", "hpcg:2", "hpcg:100x3x4", "hpcg:33x1x32"})
    all.push_back(generate(OpenMP{1}, name));
  all.push_back(symmetric_band(1000, 24, [](Index, Index) { return true; }));
  all.push_back(symmetric_band(450, 44, [](Index i, Index j) { return i / 45 == j / 45; }));  // full blocks
  all.push_back(
      symmetric_band(500, 1, [](Index i, Index j) { return i / 100 % 2 == 0 && j / 100 % 2 == 0; }));  // empty rows
  all.push_back(symmetric_band(777, 776, [](Index i, Index j) { return j - i <= 1 || j - i == 776 || j - i == 400; }));
  std::vector<unsigned> of_kind(7 * 21);  // no row is like the one above it
  for (unsigned& bit : of_kind) bit = unsigned(random() % 2);
  all.push_back(
      symmetric_band(3000, 20, [&](Index i, Index j) { return of_kind[std::size_t(i % 7 * 21 + (j - i))] > 0; }));
  all.push_back(made_symmetric(symmetric_band(60, 12, [&](Index, Index) { return random() % 4 == 0; })));
  all.push_back(without(generate(OpenMP{1}, "hpcg:20x20x5"), [](Index i, Index j) {  // a corner is missing
    const auto is_gone = [](Index node) { return node % 20 > 11 && node / 20 % 20 > 6; };
    return is_gone(i) || is_gone(j);
  }));
  on_every_backend([&](const auto& on) {
    for (const Matrix& A : all) {
      CAPTURE(A.nrows);
      CAPTURE(A.nnz());
      CHECK(all_have_kinds(on, A));
      if constexpr (std::is_same_v<std::decay_t<decltype(on)>, Cuda>)
        if (A.nnz() / A.nrows > 3) CHECK(!all_have_kinds(on, A, 3));  // some rows are longer
      // One entry moves within its row: it has no image, or columns do not ascend.
      for (int repeat = 0; repeat < 5; ++repeat) {
        Matrix B = copy_of(A);
        const Index row = Index(random() % std::uint64_t(A.nrows));
        const std::int64_t begin = A.row_ptr[row], length = A.row_ptr[row + std::int64_t(1)] - begin;
        if (length == 0) continue;
        Index& column = B.col_idx[begin + std::int64_t(random() % std::uint64_t(length))];
        const Index was = column;
        column = Index(random() % std::uint64_t(A.ncols));
        CHECK(all_have_kinds(on, B) == (column == was));
      }
    }
  });
}

TEST_CASE("more kinds, entries or distances than tables have room for, or rows too long, are left alone") {
  // A pair of rows for each distance, with rows between them that have nothing but their diagonal: 1 + 2 `pairs` kinds.
  const auto pairs = [](int count, bool with_empty_row) {
    std::vector<Entry> entries;
    Index row = with_empty_row ? 1 : 0;
    for (Index distance = 1; distance <= count; ++distance) {
      for (Index i = 0; i <= distance + 1; ++i) entries.push_back({row + i, row + i});
      entries.push_back({row, row + distance}), entries.push_back({row + distance, row});
      row += distance + 2;
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.row != b.row ? a.row < b.row : a.col < b.col; });
    return matrix_of_entries(row, row, entries);
  };
  // A row and eight others that are joined with it, at distances which occur only once.
  const auto stars = [](int count) {
    std::vector<Entry> entries;
    Index row = 0, distance = 1;
    for (int star = 0; star < count; ++star) {
      const Index hub = row;
      for (int leaf = 0; leaf < 8; ++leaf, ++distance)
        entries.push_back({hub, hub + distance}), entries.push_back({hub + distance, hub});
      row += distance + 1;
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.row != b.row ? a.row < b.row : a.col < b.col; });
    return matrix_of_entries(row, row, entries);
  };
  const unsigned seed = fresh_seed();
  std::mt19937_64 random(seed);
  const Matrix dense_band = made_symmetric(symmetric_band(200, 30, [&](Index, Index) { return random() % 4 == 0; }));
  on_every_backend([&](const auto& on) {
    CHECK(all_have_kinds(on, pairs(127, false)));
    CHECK(!all_have_kinds(on, pairs(127, true)));
    CHECK(!all_have_kinds(on, pairs(128, false)));
    CHECK(all_have_kinds(on, stars(16)));  // 256 distances
    CHECK(!all_have_kinds(on, stars(17)));
    CHECK(all_have_kinds(on, dense_band) ==
          HostBackend<std::decay_t<decltype(on)>>);  // 200 kinds, thousands of entries
    CHECK(!all_have_kinds(on, symmetric_band(1000, 32, [](Index, Index) { return true; })));  // rows of 65
    CHECK(!all_have_kinds(on, scattered(seed, 1000, 1000, 9000)));
  });
}

TEST_CASE(
    "a lattice is mirrored by its kinds on the host, however far its entries are apart, and one with a fault is not") {
  std::mt19937_64 random(fresh_seed());
  for (const char* name : {"poisson3d:40x41x42", "hpcg:27x28x29", "poisson2d:40000x3"}) {
    CAPTURE(name);
    const Matrix A = generate(OpenMP{}, name);
    const Matrix expected = sorted_transpose(A.view());
    Matrix B = copy_of(A);
    const auto k = std::int64_t(random() % std::uint64_t(A.nnz() - 1));
    std::swap(B.col_idx[k], B.col_idx[k + 1]);  // within a row, or two entries without an image
    const Matrix expected_of_fault = sorted_transpose(B.view());
    for (const int threads : {1, 2, 5}) {
      TransposeReport report;
      CHECK(same_matrix(transposed(OpenMP{threads}, A.view(), &report), expected));
      CHECK(report.is_mirrored);
      CHECK(report.workspace_bytes > 2 * A.nrows);  // what cursors of one thread do not take
      CHECK(report.workspace_bytes < 2 * A.nrows + 100'000);
      CHECK(same_matrix(transposed(OpenMP{threads}, B.view(), &report), expected_of_fault));
      CHECK(!report.is_mirrored);
    }
  }
}

TEST_CASE("a large lattice is mirrored by its kinds on a GPU, in a byte per row, and one with a fault is not") {
  on_every_backend([&](const auto& on) {
    if constexpr (std::is_same_v<std::decay_t<decltype(on)>, Cuda>) {
      const Matrix A = generate(OpenMP{}, "hpcg:88x87x86");
      Matrix B = copy_of(A);
      std::swap(B.col_idx[10'000'000], B.col_idx[10'000'001]);
      TransposeReport report;
      CHECK(same_matrix(transposed(on, A.view(), &report), transpose(OpenMP{}, A.view())));
      CHECK(report.is_mirrored);
      CHECK(report.workspace_bytes > A.nrows);
      CHECK(report.workspace_bytes < A.nrows + 100'000);
      CHECK(same_matrix(transposed(on, B.view(), &report), transpose(OpenMP{}, B.view())));
      CHECK(!report.is_mirrored);
    }
  });
}

TEST_CASE("a symmetric pattern whose images are scattered is sorted on a GPU") {
  const Matrix A = made_symmetric(scattered(fresh_seed(), 20000, 20000, 80000));
  check_all(A);
  on_every_backend([&](const auto& on) {
    TransposeReport report{.is_mirrored = true};
    CHECK(same_matrix(transposed(on, A.view(), &report), sorted_transpose(A.view())));
    if constexpr (std::is_same_v<std::decay_t<decltype(on)>, Cuda>) CHECK(!report.is_mirrored);
  });
}

TEST_CASE("an image in the row after the right one does not count") {
  std::vector<Entry> entries;  // row 17 has none of the entries that (16, 17) needs, but row 18 begins with it
  for (Index i = 0; i < 1000; ++i)
    if (i != 17) entries.push_back({i, i});
  for (const Entry& e : {Entry{16, 17}, Entry{16, 18}, Entry{18, 16}}) entries.push_back(e);
  check_all(matrix_of_entries(1000, 1000, entries));
}

TEST_CASE("columns that do not ascend are not taken for a mirrored pattern") {
  std::vector<Entry> entries;  // symmetric as a set, rows backwards
  for (Index i = 0; i < 300; ++i)
    for (Index j = std::min(299, i + 3); j >= std::max(0, i - 3); --j) entries.push_back({i, j});
  check_all(matrix_of_entries(300, 300, entries));
  std::vector<Entry> twice;  // each entry twice
  for (const Entry& e : entries) twice.push_back({e.row, 299 - e.col}), twice.push_back({e.row, 299 - e.col});
  check_all(matrix_of_entries(300, 300, twice));
}

TEST_CASE("one row far down that does not ascend, among thousands that are symmetric") {
  const auto banded = [](Index arrow) {  // 7 diagonals, and a full row and column
    std::vector<Entry> entries;
    for (Index i = 0; i < 6000; ++i)
      for (Index j = 0; j < 6000; ++j)
        if (i == arrow || j == arrow || std::abs(i - j) <= 3) entries.push_back({i, j});
    return matrix_of_entries(6000, 6000, entries);
  };
  for (const Index arrow : {-1, 0, 5999}) {
    const Matrix A = banded(arrow);
    check_all(A);
    for (const Index row : {Index(1), Index(3001), Index(5990)}) {
      const auto first = A.row_ptr[row];
      Matrix swapped = copy_of(A);
      std::swap(swapped.col_idx[first], swapped.col_idx[A.row_ptr[row + std::int64_t(1)] - 1]);
      check_all(swapped);
      Matrix twice = copy_of(A);
      twice.col_idx[first + 1] = twice.col_idx[first];
      check_all(twice);
    }
  }
}

TEST_CASE("a mirrored result that no cache holds, with a row longer than what is written together") {
  constexpr Index n = 30000, full = 17000;
  std::vector<Entry> entries;
  for (Index i = 0; i < n; ++i) {
    const Index first = i == full ? 0 : std::max(0, i - 18), last = i == full ? n - 1 : std::min(n - 1, i + 18);
    if (full < first) entries.push_back({i, full});
    for (Index j = first; j <= last; ++j) entries.push_back({i, j});
    if (full > last) entries.push_back({i, full});
  }
  const Matrix A = matrix_of_entries(n, n, entries);
  TransposeReport report;
  CHECK(same_matrix(transposed(OpenMP{3}, A.view(), &report), sorted_transpose(A.view())));
  CHECK(report.is_mirrored);
  check_all(A);
  Matrix without_image = copy_of(A);  // noticed when most has been written
  const auto last = without_image.row_ptr[n - 1];
  without_image.col_idx[last] -= 1;
  check_all(without_image);
}

TEST_CASE("a result of another shape is refused") {
  const Matrix A = random_matrix(1, 20, 30, 3);
  Matrix square{30, 30, Array<std::int64_t>(31), Array<Index>(A.nnz()), Array<double>(A.nnz())};
  CHECK_THROWS_AS(transpose(OpenMP{1}, A.view(), square), ShapeError);
  Matrix larger{30, 20, Array<std::int64_t>(31), Array<Index>(A.nnz() + 1), Array<double>(A.nnz() + 1)};
  CHECK_THROWS_AS(transpose(OpenMP{1}, A.view(), larger), ShapeError);
}

namespace {

/// Entry j of row r stands in column r + distance(j), so column c holds entry j of row c - distance(j).
constexpr Index nrows_of_large = 1 << 25, entries_per_row = 65;
constexpr Index distance(Index j) { return 7919 * j * j; }
constexpr float value_at(Index r, Index j) { return float(r % 1000 * 100 + j); }

Csr<float, std::int64_t> more_than_2_to_the_31() {
  const std::int64_t nnz = std::int64_t(nrows_of_large) * entries_per_row;
  Csr<float, std::int64_t> A{nrows_of_large, nrows_of_large + distance(entries_per_row - 1),
                             Array<std::int64_t>(nrows_of_large + 1), Array<Index>(nnz), Array<float>(nnz)};
  A.row_ptr[0] = 0;
  parallel_for(OpenMP{}, nrows_of_large, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      A.row_ptr[r + 1] = (r + 1) * entries_per_row;
      for (Index j = 0; j < entries_per_row; ++j) {
        A.col_idx[r * entries_per_row + j] = Index(r) + distance(j);
        A.values[r * entries_per_row + j] = value_at(Index(r), j);
      }
    }
  });
  return A;
}

/// How many columns are not what they should be.
std::int64_t wrong_columns(const CsrView<float, std::int64_t, Host>& T) {
  std::atomic<std::int64_t> wrong = 0;
  parallel_for(OpenMP{}, T.nrows, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t c = first; c < last; ++c) {
      std::int64_t k = T.row_ptr[c];
      bool right = true;
      for (Index j = entries_per_row - 1; j >= 0; --j) {
        const std::int64_t r = c - distance(j);
        if (r < 0 || r >= nrows_of_large) continue;
        right = right && k < T.row_ptr[c + 1] && T.col_idx[k] == r && T.values[k] == value_at(Index(r), j);
        ++k;
      }
      if (!right || k != T.row_ptr[c + 1]) ++wrong;
    }
  });
  return wrong;
}

}  // namespace

TEST_CASE("more than 2^31 entries are transposed") {
  constexpr std::int64_t needed = std::int64_t(60) << 30, needed_there = std::int64_t(90) << 30;
  if (!std::getenv("SEIDEL_LONG_TESTS"))
    return skipped("it takes a minute and 60 GB: set SEIDEL_LONG_TESTS=1 in the environment to run it");
  if (available_bytes(Host{}) < needed) return skipped("it takes 60 GB of memory");
  const auto A = more_than_2_to_the_31();
  REQUIRE(A.values.size() > std::int64_t(1) << 31);
  const auto on_host = transpose(OpenMP{}, A.view());
  CHECK(wrong_columns(on_host.view()) == 0);
  if constexpr (built_with_cuda) {
    if (!have_gpu()) return skipped_cuda();
    const Cuda on;
    if (available_bytes(on) < needed_there) return skipped("on the GPU it takes 90 GB of memory");
    const auto there = copied_to<Device>(on, A.view());
    const auto back = copied_to<Host>(on, transpose(on, there.view()).view());
    CHECK(wrong_columns(back.view()) == 0);
  }
}

TEST_CASE_TEMPLATE("a kept transpose takes new values in the old pattern, again and again", Real, double, float) {
  const unsigned seed = fresh_seed();
  std::vector<Matrix> all;
  all.push_back(scattered(seed, 20000, 700, 90000));
  all.push_back(generate(OpenMP{1}, "poisson2d:40"));
  all.push_back(Matrix{4, 3, Array<std::int64_t>(5, 0), {}, {}});
  for (const Matrix& wide : all) {
    auto A = as<Real, std::int32_t>(wide);
    on_every_backend([&](const auto& on) {
      using B = std::decay_t<decltype(on)>;
      using Space = typename B::Space;
      const auto moved = [&](const auto& array) {
        using T = std::decay_t<decltype(array[0])>;
        return Array<T, Space>(on, std::vector<T>(array.begin(), array.end()));
      };
      const auto ptr = moved(A.row_ptr);
      const auto idx = moved(A.col_idx);
      const auto values = moved(A.values);
      TransposedMatrix<Real, std::int32_t, B> T(on, {A.nrows, A.ncols, ptr, idx, values});
      std::mt19937_64 random(seed);
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto found = T.view();
        CHECK(same_bits(copied_to<Host>(on, found.row_ptr), sorted_transpose(A.view()).row_ptr));
        CHECK(same_bits(copied_to<Host>(on, found.col_idx), sorted_transpose(A.view()).col_idx));
        CHECK(same_bits(copied_to<Host>(on, found.values), sorted_transpose(A.view()).values));
        for (Real& value : A.values) value = Real(random_value(random));
        T.update_values(moved(A.values).span());
      }
      CHECK(T.bytes() == 4 * (A.ncols + 1) + A.nnz() * std::int64_t(8 + sizeof(Real)));
      const Array<Real, Space> few(on, std::vector<Real>(std::size_t(A.nnz()) + 1));
      CHECK_THROWS_AS(T.update_values(few.span()), ShapeError);
    });
  }
}
