// Sparse products: operands as multigrid has them, costs, judge.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel::drivers {

namespace {

/// A number for each row: neighbours of a row without numbered neighbours share one, the rest joins a neighbour.
struct Aggregates {
  Index n = 0;
  std::vector<Index> of_row;
};
Aggregates aggregates_of(const Matrix& A) {
  constexpr Index none = -1;
  Aggregates found{0, std::vector<Index>(std::size_t(A.nrows), none)};
  const auto any_neighbour = [&](Index i, const std::vector<Index>& numbers) {
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      if (numbers[std::size_t(A.col_idx[e])] != none) return numbers[std::size_t(A.col_idx[e])];
    return none;
  };
  for (Index i = 0; i < A.nrows; ++i) {
    if (found.of_row[std::size_t(i)] != none || any_neighbour(i, found.of_row) != none) continue;
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e) found.of_row[std::size_t(A.col_idx[e])] = found.n;
    found.of_row[std::size_t(i)] = found.n++;
  }
  const std::vector<Index> first = found.of_row;
  for (Index i = 0; i < A.nrows; ++i)
    if (first[std::size_t(i)] == none) found.of_row[std::size_t(i)] = any_neighbour(i, first);
  return found;
}

/// (I - 2/3 D^-1 A) T, with T the aggregates: what smoothed aggregation prolongs with, but for its choice of entries.
Matrix prolongation_of(const Matrix& A) {
  const Aggregates aggregates = aggregates_of(A);
  const std::int64_t nterms = A.nnz() + A.nrows;
  Coo<double> terms{A.nrows, aggregates.n, Array<Index>(nterms), Array<Index>(nterms), Array<double>(nterms)};
  for_row_shares(OpenMP{}, A.row_ptr.span(), [&](std::int64_t first, std::int64_t last) {
    std::int64_t at = A.row_ptr[first] + first;
    for (Index i = Index(first); i < last; ++i) {
      const auto add = [&](Index j, double value) {
        terms.row_idx[at] = i, terms.col_idx[at] = aggregates.of_row[std::size_t(j)], terms.values[at++] = value;
      };
      double diagonal = 1;
      for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
        if (A.col_idx[e] == i && A.values[e] != 0) diagonal = A.values[e];
      add(i, 1);
      for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
        add(A.col_idx[e], -2 * A.values[e] / (3 * diagonal));
    }
  });
  return to_csr<std::int64_t>(OpenMP{}, terms.view());
}

std::unique_ptr<Operand> product_of(const std::string& word, const CommonOptions& options) {
  auto operand = std::make_unique<ProductOperand>();
  const auto load = [&](const std::string& name) { return load_matrix(name, options, false).matrix; };
  const auto keep = [&](Matrix left, std::optional<Matrix> right) {
    operand->A = std::make_unique<MatrixOperand>("A", std::move(left));
    if (right) operand->other = std::make_unique<MatrixOperand>("B", std::move(*right));
  };
  const auto square = [&](const std::string& name) {
    Matrix A = load(name);
    require_square(A.nrows, A.ncols, word.c_str());
    return A;
  };
  const auto star = word.find('*');
  if (word.starts_with("ap:")) {
    Matrix A = square(word.substr(3)), P = prolongation_of(A);
    keep(std::move(A), std::move(P));
  } else if (word.starts_with("rap:")) {
    const Matrix A = square(word.substr(4)), P = prolongation_of(A);
    keep(transpose(OpenMP{}, P.view()), spgemm(OpenMP{}, A.view(), P.view()));
  } else if (star != word.npos) {
    keep(load(word.substr(0, star)), load(word.substr(star + 1)));
    if (operand->A->A.ncols != operand->B().A.nrows)
      throw InputError(formatted("{}: found {} columns and {} rows, expected as many of both", word,
                                 operand->A->A.ncols, operand->B().A.nrows));
  } else {
    keep(square(word), {});
  }
  operand->name = word;
  const Matrix &A = operand->A->A, &B = operand->B().A;
  operand->description =
      formatted("{} x {}, {}, times {} x {}, {}", count(A.nrows), count(A.ncols), plural(A.nnz(), "nonzero"),
                count(B.nrows), count(B.ncols), plural(B.nnz(), "nonzero"));
  return operand;
}

/// Small, with seams: one row, empty rows, dense row and column, not square, unsymmetric.
const OperandKind product = {
    .placeholder = "PRODUCT",
    .help = "MATRIX for A A, 'A*B' for two, ap:MATRIX and rap:MATRIX for A P and R (A P) of multigrid",
    .example = "ap:poisson3d:64",
    .for_validation = {"poisson2d:1", "poisson3d:13", "convdiff:17", "random:257x300:5000*random:300x90:2000", "rmat:8",
                       "denserow:300", "densecolumn:300", "emptyrows:100", "ap:poisson3d:12", "rap:poisson3d:12",
                       "ap:elasticity3d:4", "rap:hpcg:9"},
    .make = product_of};

void require_finite_both(const Operand& operand) {
  auto& of = const_cast<ProductOperand&>(dynamic_cast<const ProductOperand&>(operand));
  require_finite(*of.A), require_finite(of.B());
}

}  // namespace

const Kernel kernels::spgemm = {.name = "spgemm",
                                .help = "the product of two sparse matrices",
                                .takes = &product,
                                .require = require_finite_both,
                                .make = made<SparseProductTask, ProductOperand, SparseProductTask::Found::all>};

const Kernel kernels::spgemm_values = {
    .name = "spgemm-values",
    .help = "new values of a product of sparse matrices, its pattern known",
    .takes = &product,
    .require = require_finite_both,
    .make = made<SparseProductTask, ProductOperand, SparseProductTask::Found::values>};

/// Each row by sorting its products, which are added from the last to the first.
SparseProductTask::SparseProductTask(ProductOperand& of_, const TaskOptions&, Found found) : of(of_) {
  struct Term {
    Index column;
    long double value;
  };
  const Matrix &A = of.A->A, &B = of.B().A;
  rows_.resize(std::size_t(A.nrows));
  std::atomic<std::int64_t> products = 0, entries = 0;
  for_row_shares(OpenMP{}, A.row_ptr.span(), [&](std::int64_t first, std::int64_t last) {
    std::vector<Term> terms;
    for (std::int64_t i = first; i < last; ++i) {
      terms.clear();
      for (std::int64_t e = A.row_ptr[i + 1] - 1; e >= A.row_ptr[i]; --e)
        for (std::int64_t f = B.row_ptr[A.col_idx[e]]; f < B.row_ptr[A.col_idx[e] + std::int64_t(1)]; ++f)
          terms.push_back({B.col_idx[f], static_cast<long double>(A.values[e]) * B.values[f]});
      std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.column < b.column; });
      std::vector<Entry>& row = rows_[std::size_t(i)];
      for (auto term = terms.begin(); term != terms.end();) {
        const auto begin = term;
        long double sum = 0, scale = 0;
        for (; term != terms.end() && term->column == begin->column; ++term)
          sum += term->value, scale += std::fabs(term->value);
        const long double units = (static_cast<long double>(term - begin) + 3) * std::numeric_limits<double>::epsilon();
        row.push_back({begin->column, double(sum), double(units * scale)});
      }
      row.shrink_to_fit();
      products += std::int64_t(terms.size()), entries += std::int64_t(row.size());
    }
  });
  nnz_ = entries;
  flops = 2 * double(products.load());
  const double read = double(A.nnz()) + (of.other ? double(B.nnz()) : 0), m = A.nrows, l = B.nrows;
  if (found == Found::all) {
    bytes = 12 * (read + double(nnz_)) + 4 * (2 * m + l);
    bytes_model = of.other ? "12 (nnz_A + nnz_B + nnz_C) + 4 (2 m + l)" : "12 (nnz_A + nnz_C) + 4 (2 m + l)";
  } else {
    bytes = 12 * read + 8 * double(nnz_) + 4 * (m + l);
    bytes_model = of.other ? "12 (nnz_A + nnz_B) + 8 nnz_C + 4 (m + l)" : "12 nnz_A + 8 nnz_C + 4 (m + l)";
  }
}

double SparseProductTask::error(const Answer& answer) const {
  const auto C_ptr = answer.array<std::int32_t>(0), C_col = answer.array<std::int32_t>(1);
  const auto C_values = answer.array<double>(2);
  const auto m = std::int64_t(rows_.size());
  if (C_ptr.size() != m + 1 || C_col.size() != nnz_ || C_values.size() != nnz_) return wrong_size;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i <= m; ++i) {
    if (C_ptr[i] != at) return not_equal;
    if (i < m) at += std::int64_t(rows_[std::size_t(i)].size());
  }
  return worst_of(m, [&](std::int64_t i) {
    std::vector<std::pair<Index, double>> found;
    for (auto e = C_ptr[i]; e < C_ptr[i + 1]; ++e) found.emplace_back(C_col[e], C_values[e]);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    double error = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const Entry& entry = rows_[std::size_t(i)][k];
      if (found[k].first != entry.column) return not_equal;
      const double off = std::fabs(found[k].second - entry.expected);
      error = worse(error, off == 0 ? 0 : off / entry.allowed);
    }
    return error;
  });
}

}  // namespace seidel::drivers
