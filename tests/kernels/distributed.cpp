// Vectors and products where several processes share the rows: the bits of one process.
#include "../backends.hpp"
#include "../matrices.hpp"
#include "../processes.hpp"
#include "matrices.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/kernels/distributed/rows.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/kernels/vector_block.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const int counts_of_processes[] = {1, 2, 3, 5};

/// Calls test(on) on each of `count` processes, with the rows of a system of n; on the host, and on the GPU if there is one.
template <class Test>
void on_shared_rows(int count, std::int64_t n, int nodes, const Test& test) {
  const auto with = [&](const auto& make) {
    on_processes(count, [&](const Processes& all) {
      test(Distributed(make(), std::make_shared<SharedRows>(all, RowShares(n, all.size(), nodes))));
    });
  };
  with([] { return OpenMP{1}; });
  with([] { return OpenMP{2}; });
  if constexpr (built_with_cuda) {
    if (have_gpu())
      with([] { return Cuda{}; });
    else
      skipped_cuda();
  }
}

/// The elements here of a vector of the whole.
template <class B>
Vector<double, Distributed<B>> part_of(const Distributed<B>& on, const std::vector<double>& whole) {
  const std::int64_t first = on.rows().first();
  return {on,
          moved_to(on.local(), std::vector<double>(whole.begin() + first, whole.begin() + first + on.rows().rows()))};
}
template <class B>
std::vector<double> values_of(const Vector<double, Distributed<B>>& v) {
  return moved_back(OpenMP{1}, copied_to<Host>(v.on().local(), v.span()));
}
/// Whether these are the elements here.
bool are_here(const std::vector<double>& mine, const SharedRows& rows, const std::vector<double>& whole) {
  return mine == std::vector<double>(whole.begin() + rows.first(), whole.begin() + rows.first() + rows.rows());
}

Csr<double, std::int64_t> rows_here(const Csr<double, std::int64_t>& A, const SharedRows& rows) {
  return rows_between(OpenMP{1}, A.view(), rows.first(), rows.rows());
}
/// The same in the memory of the back end.
template <class B>
Csr<double, std::int64_t, SpaceOf<B>> rows_there(const Csr<double, std::int64_t>& A, const Distributed<B>& on) {
  return copied_to<SpaceOf<B>>(on.local(), rows_here(A, on.rows()).view());
}

}  // namespace

TEST_CASE("rows are dealt out in order, each once, in shares that differ by little") {
  for (const std::int64_t n : {0, 1, 64, 2048, 2049, 100'000, 5'000'000})
    for (const int processes : {1, 2, 3, 7, 64})
      for (const int nodes : {1, 3}) {
        CAPTURE(n);
        CAPTURE(processes);
        CAPTURE(nodes);
        const RowShares shares(n, processes, nodes);
        CHECK(shares.n() == n);
        CHECK(shares.first(0) == 0);
        CHECK(shares.first(processes) == n);
        std::int64_t most = 0;
        for (int p = 0; p < processes; ++p) {
          REQUIRE(shares.rows(p) >= 0);
          CHECK((shares.first(p) % nodes == 0 || shares.first(p) == n));
          CHECK((shares.first(p) % shares.unit() == 0 || shares.first(p) == n));
          most = std::max(most, shares.rows(p));
          for (const std::int64_t row : {shares.first(p), shares.first(p + 1) - 1})
            if (shares.rows(p) > 0) CHECK(shares.owner(row) == p);
        }
        CHECK(double(most) <= 1.1 * double(n) / processes + double(2 * 2048 * nodes));
      }
}

TEST_CASE("an error of one process is that of all, and so are texts and numbers") {
  std::atomic<int> thrown = 0;
  on_processes(3, [&](const Processes& all) {
    if (told(all, std::string(all.rank() == 1 ? "the text" : "")) != "") thrown = 100;
    if (told(all, std::string(all.rank() == 1 ? "the text" : ""), 1) != "the text") thrown = 100;
    if (told(all, 2.0 + all.rank(), 2) != 4) thrown = 100;
    try {
      together(all, [&] {
        if (all.rank() > 0) throw InputError("from " + std::to_string(all.rank()));
      });
    } catch (const InputError& error) {
      if (std::string(error.what()) == "from 1") ++thrown;
    }
  });
  CHECK(thrown == 3);
}

TEST_CASE("sums, norms and updates of shared vectors have the bits of one process") {
  for (const std::int64_t n : {0, 1, 64, 65, 2047, 2049, 16'385, 150'001})
    for (const int count : counts_of_processes) {
      CAPTURE(n);
      CAPTURE(count);
      const auto x = random_values<double>(n, 1), y = random_values<double>(n, 2), d = random_values<double>(n, 3);
      const OpenMP one{1};
      using V = Vector<double, OpenMP>;
      const V x1(one, moved_to(one, x)), y1(one, moved_to(one, y)), d1(one, moved_to(one, d));
      V z1 = like(x1), w1 = like(x1), u1 = like(x1);
      copy(y1, w1);
      const auto expected = axpy_multiply_norm2_dot(0.3, x1, w1, d1, z1);
      const auto three = sums(norm2_of(x1), dot_of(x1, y1), dot_of(y1, d1));
      fill_hashed(u1, 7);
      std::vector<double> h1(4), c = {0.5, -2, 3};
      auto block1 = block_like(x1, 3);
      for (std::size_t j = 0; j < 3; ++j) fill_hashed(block1[j], j);
      const double norm1 = project(block1, 3, y1, h1.data());
      V combined1 = like(y1);
      copy(y1, combined1);
      subtract_combination(block1, 3, c.data(), 0.7, combined1);
      std::atomic<int> wrong = 0;
      on_shared_rows(count, n, 1, [&](const auto& on) {
        const auto xs = part_of(on, x), ys = part_of(on, y), ds = part_of(on, d);
        auto zs = like(xs), ws = like(xs), us = like(xs);
        copy(ys, ws);
        const SharedRows& rows = on.rows();
        wrong += axpy_multiply_norm2_dot(0.3, xs, ws, ds, zs) != expected;
        wrong += !are_here(values_of(ws), rows, moved_back(one, copied_to<Host>(one, w1.span())));
        wrong += !are_here(values_of(zs), rows, moved_back(one, copied_to<Host>(one, z1.span())));
        wrong += sums(norm2_of(xs), dot_of(xs, ys), dot_of(ys, ds)) != three;
        wrong += max_abs(xs) != max_abs(x1);
        fill_hashed(us, 7);
        wrong += !are_here(values_of(us), rows, moved_back(one, copied_to<Host>(one, u1.span())));
        auto block = block_like(xs, 3);
        for (std::size_t j = 0; j < 3; ++j) fill_hashed(block[j], j);
        std::vector<double> h(4);
        wrong += project(block, 3, ys, h.data()) != norm1 || h != h1;
        auto combined = like(ys);
        copy(ys, combined);
        subtract_combination(block, 3, c.data(), 0.7, combined);
        wrong += !are_here(values_of(combined), rows, moved_back(one, copied_to<Host>(one, combined1.span())));
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE("a shared vector with extreme, infinite or missing numbers is judged as in one process") {
  const std::int64_t n = 10'000;
  auto x = random_values<double>(n, 1);
  x[9000] = 1e300;
  const OpenMP one{1};
  const double norm = norm2(Vector<double, OpenMP>(one, moved_to(one, x)));
  auto broken = x;
  broken[7000] = std::numeric_limits<double>::quiet_NaN();
  std::atomic<int> wrong = 0;
  on_shared_rows(3, n, 1, [&](const auto& on) {
    wrong += norm2(part_of(on, x)) != norm || !std::isfinite(norm);
    wrong += !std::isnan(max_abs(part_of(on, broken)));
    wrong += first_nonfinite(part_of(on, broken)) != 7000 || first_nonfinite(part_of(on, x)) != -1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("what the first process wishes reaches all with the same sum") {
  std::atomic<int> wrong = 0;
  on_processes(3, [&](const Processes& all) {
    const auto rows = std::make_shared<SharedRows>(all, RowShares(9000, 3));
    int asked = 0;
    rows->wants_stop = [&] { return ++asked > 2; };
    const Distributed<OpenMP> on(OpenMP{1}, rows);
    const Vector<double, Distributed<OpenMP>> x(on, rows->rows());
    for (int sum = 0; sum < 4; ++sum) {
      (void)dot(x, x);
      wrong += rows->stop != (sum >= 2);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("products with shared rows have the bits of one process") {
  for (const char* spec : {"poisson3d:20", "rmat:13", "random:9000x9000:50000", "elasticity3d:12", "spd:7000:8"}) {
    CAPTURE(spec);
    const auto A = generate(OpenMP{2}, spec);
    const std::int64_t n = A.nrows;
    const auto x = random_values<double>(n, 1), b = random_values<double>(n, 2);
    std::vector<double> y(x.size()), r(x.size());
    spmv(OpenMP{1}, A.view(), {x.data(), n}, {y.data(), n});
    residual(OpenMP{1}, A.view(), {x.data(), n}, {b.data(), n}, {r.data(), n});
    for (const int count : counts_of_processes) {
      CAPTURE(count);
      std::atomic<int> wrong = 0;
      on_shared_rows(count, n, 1, [&]<class B>(const Distributed<B>& on) {
        const DistributedMatrix<std::int64_t, B> shared(on, rows_there(A, on));
        auto ys = shared.range(), rs = shared.range();
        for (int again = 0; again < 2; ++again) {
          fill(ys, std::numeric_limits<double>::quiet_NaN());
          shared.apply(part_of(on, x), ys);
          shared.residual(part_of(on, x), part_of(on, b), rs);
          wrong += !are_here(values_of(ys), on.rows(), y) || !are_here(values_of(rs), on.rows(), r);
        }
      });
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("rows go to where they are needed, and parts of rows are added where they belong") {
  const auto A = generate(OpenMP{1}, "rmat:12"), B = generate(OpenMP{1}, "random:4096x300:9000");
  const std::int64_t n = A.nrows;
  const auto AB = spgemm(OpenMP{1}, A.view(), B.view());
  const auto x = random_values<double>(n, 1);
  const auto At = transpose(OpenMP{1}, A.view());
  std::vector<double> Atx(x.size()), size(x.size());
  spmv(OpenMP{1}, At.view(), {x.data(), n}, {Atx.data(), n});
  for (Index i = 0; i < n; ++i)
    for (auto k = At.row_ptr[i]; k < At.row_ptr[i + 1]; ++k)
      size[std::size_t(i)] += std::abs(At.values[k] * x[std::size_t(At.col_idx[k])]);
  std::atomic<int> wrong = 0;
  on_shared_rows(2, n, 1, [&]<class On>(const Distributed<On>& on) {
    const Processes& all = on.rows().all;
    const DistributedMatrix<std::int64_t, On> shared(on, rows_there(A, on));
    // A B by rows of B that come from where they are
    const auto& local = on.local();
    const auto A_there = rows_there(A, on), B_there = rows_there(B, on);
    const auto rows_of_B = rows_of_columns(local, all, shared.halo(), B_there.view());
    const auto product = copied_to<Host>(local, spgemm(local, shared.rows(), rows_of_B.view()).view()),
               expected = rows_here(AB, on.rows());
    wrong += moved_back(OpenMP{1}, product.col_idx) != moved_back(OpenMP{1}, expected.col_idx);
    wrong += moved_back(OpenMP{1}, product.values) != moved_back(OpenMP{1}, expected.values);
    // A'A by parts that each process has of its rows
    const auto whole = transpose(local, shared.rows());
    const auto of_mine = spgemm(local, whole.view(), A_there.view());
    const auto sums = copied_to<Host>(local, added_rows(local, all, shared.halo(), of_mine.view()).view());
    const auto AtA = rows_here(spgemm(OpenMP{1}, At.view(), A.view()), on.rows());
    wrong += moved_back(OpenMP{1}, sums.row_ptr) != moved_back(OpenMP{1}, AtA.row_ptr);
    wrong += moved_back(OpenMP{1}, sums.col_idx) != moved_back(OpenMP{1}, AtA.col_idx);
    for (std::int64_t k = 0; k < sums.nnz(); ++k)
      wrong += std::abs(sums.values[k] - AtA.values[k]) > 1e-12 * (1 + std::abs(AtA.values[k]));
    // A'x likewise
    Array<double, SpaceOf<On>> parts(local, whole.nrows);
    spmv(local, whole.view(), part_of(on, x).span(), parts.span());
    auto y = shared.domain();
    shared.halo_exchange()->template add_back<double>(parts, y.span());
    const std::vector<double> found = values_of(y);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t row = i + std::size_t(on.rows().first());
      wrong += !(std::abs(found[i] - Atx[row]) <= 1e-14 * double(n) * size[row]);
    }
    // and A itself, whole
    const auto rows = copied_to<Host>(local, shared.rows());
    const auto again = whole_of(all, on.rows().first(), shared.halo(), rows.view(), n);
    wrong += moved_back(OpenMP{1}, again.row_ptr) != moved_back(OpenMP{1}, A.row_ptr);
    wrong += moved_back(OpenMP{1}, again.col_idx) != moved_back(OpenMP{1}, A.col_idx);
    wrong += moved_back(OpenMP{1}, again.values) != moved_back(OpenMP{1}, A.values);
  });
  CHECK(wrong == 0);
}
