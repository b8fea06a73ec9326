// Products of sparse matrices: seidel's, and the textbook's.

#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel::drivers {

namespace {

using Narrow = CsrView<double, std::int32_t, Host>;

template <class B>
Prepared whole(const SparseProductTask& task, const Where& where) {
  const B on = back_end<B>(where);
  return allocating<Csr<double, std::int32_t, SpaceOf<B>>>(
      [on, left = csr_of(on, *task.of.A), right = csr_of(on, task.of.B())](auto& C) {
        C = {};  // so that there is never more than one
        C = spgemm(on, left, right);
      },
      [on](const auto& C) { return answer_of(on, C.view()); });
}

template <class B>
Prepared values(const SparseProductTask& task, const Where& where) {
  using Product = SparseProduct<double, std::int32_t, B>;
  const B on = back_end<B>(where);
  const auto left = csr_of(on, *task.of.A), right = csr_of(on, task.of.B());
  std::shared_ptr<Product> product;
  const double setup = seconds_to_make(on, [&] { product = std::make_shared<Product>(on, left, right); });
  const auto C = product->C();
  return {.run = [product, left, right] { product->update_values(left, right); },
          .poison =
              [on, C] {
                Span<double, SpaceOf<B>> all(const_cast<double*>(C.values.data()), C.values.size());
                fill<B, double>(on, all, std::numeric_limits<double>::quiet_NaN());
              },
          .answer = [on, product] { return answer_of(on, product->C()); },
          .setup_seconds = setup,
          .workspace_bytes = product->bytes() - 12 * C.nnz() - 4 * C.row_ptr.size()};
}

/// Gustavson's: a dense row of sums, a list of the columns that it has, which are then sorted.
Csr<double, std::int32_t> textbook_product(const Narrow& A, const Narrow& B) {
  std::vector<double> sums(std::size_t(B.ncols), 0.0);
  std::vector<Index> seen_in(std::size_t(B.ncols), -1), columns;
  std::vector<std::int32_t> row_ptr = {0};
  std::vector<Index> col_idx;
  std::vector<double> values;
  for (Index i = 0; i < A.nrows; ++i) {
    columns.clear();
    for (auto e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      for (auto f = B.row_ptr[A.col_idx[e]]; f < B.row_ptr[A.col_idx[e] + 1]; ++f) {
        const auto j = std::size_t(B.col_idx[f]);
        if (std::exchange(seen_in[j], i) != i) columns.push_back(Index(j)), sums[j] = 0;
        sums[j] += A.values[e] * B.values[f];
      }
    std::sort(columns.begin(), columns.end());
    for (const Index j : columns) col_idx.push_back(j), values.push_back(sums[std::size_t(j)]);
    row_ptr.push_back(std::int32_t(col_idx.size()));
  }
  return {A.nrows, B.ncols, row_ptr, col_idx, values};
}

Prepared textbook(const SparseProductTask& task, const Where&) {
  return allocating<Csr<double, std::int32_t>>(
      [left = csr_of(OpenMP{1}, *task.of.A), right = csr_of(OpenMP{1}, task.of.B())](auto& C) {
        C = textbook_product(left, right);
      },
      [](const auto& C) { return answer_of(OpenMP{1}, C.view()); });
}

}  // namespace

std::vector<Rival> spgemm_rivals() {
  std::vector<Rival> all;
  add_ours(
      all, kernels::spgemm, "csr",
      "short rows summed as they are found, others by a tree of bits; allocates the result each time",
      []<class B>(const B*) { return whole<B>; },
      "rows merged or hashed by their length; allocates the result each time");
  all.push_back(baseline(kernels::spgemm, "csr", BackendName::serial, "textbook",
                         "Gustavson's: a dense row of sums, its columns sorted", textbook));
  add_ours(all, kernels::spgemm_values, "csr", "new values in the pattern that was found; allocates nothing",
           []<class B>(const B*) { return values<B>; });
  return all;
}

}  // namespace seidel::drivers
