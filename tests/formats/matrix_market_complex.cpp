// Complex files in their real form.
#include "matrix_market.hpp"

#include <complex>

using namespace seidel;
using namespace seidel::tests;

namespace {

using Number = std::complex<double>;

MatrixFile real_form(const std::string& text) {
  const ReadOptions options{.complex = ReadOptions::Complex::as_real_form};
  return parse_matrix_market(text, "A.mtx", options);
}

/// [Re A, -Im A; Im A, Re A] of a dense matrix, row by row, zeros left out.
Matrix form_of(const std::vector<std::vector<Number>>& A) {
  const Index m = Index(A.size()), n = Index(A[0].size());
  std::vector<Row> rows(2 * m);
  const auto put = [&](Index i, Index j, double value) {
    if (value != 0) rows[i][j] = value;
  };
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      put(i, j, A[i][j].real());
      put(m + i, n + j, A[i][j].real());
      put(i, n + j, -A[i][j].imag());
      put(m + i, j, A[i][j].imag());
    }
  return matrix_of(2 * n, rows);
}

void check_same(const Matrix& A, const Matrix& B) {
  REQUIRE(A.nrows == B.nrows);
  REQUIRE(A.ncols == B.ncols);
  REQUIRE(A.nnz() == B.nnz());
  CHECK(std::equal(A.row_ptr.begin(), A.row_ptr.end(), B.row_ptr.begin()));
  CHECK(std::equal(A.col_idx.begin(), A.col_idx.end(), B.col_idx.begin()));
  CHECK(std::equal(A.values.begin(), A.values.end(), B.values.begin()));
}

const std::string coordinate = "%%MatrixMarket matrix coordinate complex ",
                  array = "%%MatrixMarket matrix array complex ";

}  // namespace

TEST_CASE("a complex file becomes its real form, in every layout and symmetry") {
  check_same(real_form(coordinate + "general\n%\n2 3 4\n2 3 -3 4.5\n1 1 1 2\n\n1 2 0 -1\n2 1 7 0\r\n").matrix,
             form_of({{{1, 2}, {0, -1}, 0}, {{7, 0}, 0, {-3, 4.5}}}));
  check_same(real_form(coordinate + "symmetric\n2 2 2\n1 1 1 2\n2 1 3 4\n").matrix,
             form_of({{{1, 2}, {3, 4}}, {{3, 4}, 0}}));
  check_same(real_form(coordinate + "hermitian\n3 3 2\n1 2 1 2\n3 1 3 4\n").matrix,  // of either triangle
             form_of({{0, {1, 2}, {3, -4}}, {{1, -2}, 0, 0}, {{3, 4}, 0, 0}}));
  check_same(real_form(coordinate + "hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n").matrix,
             form_of({{{1, 0}, {3, -4}}, {{3, 4}, 0}}));
  check_same(real_form(coordinate + "skew-symmetric\n2 2 1\n2 1 3 4\n").matrix, form_of({{0, {-3, -4}}, {{3, 4}, 0}}));
  check_same(real_form(array + "general\n2 2\n1 2\n3 4\n5 6\n7 8\n").matrix,
             form_of({{{1, 2}, {5, 6}}, {{3, 4}, {7, 8}}}));
  check_same(real_form(array + "hermitian\n2 2\n1 0\n3 4\n7 0\n").matrix,
             form_of({{{1, 0}, {3, -4}}, {{3, 4}, {7, 0}}}));
  check_same(real_form(array + "skew-symmetric\n3 3\n1 2\n3 4\n5 6\n").matrix,
             form_of({{0, {-1, -2}, {-3, -4}}, {{1, 2}, 0, {-5, -6}}, {{3, 4}, {5, 6}, 0}}));
  CHECK(exact_symmetry(real_form(coordinate + "hermitian\n2 2 2\n1 1 1 0\n2 1 3 4\n").matrix.view()) ==
        Symmetry::symmetric);
}

TEST_CASE("a complex vector becomes its real part above its imaginary part") {
  const Matrix b = real_form(array + "general\n2 1\n1 2\n3 4\n").matrix;
  CHECK(b.nrows == 4);
  CHECK(b.ncols == 1);
  CHECK(std::vector<double>(b.values.begin(), b.values.end()) == std::vector<double>{1, 3, 2, 4});
}

TEST_CASE("duplicates of a complex file are added, and zeros and NaN are counted") {
  const MatrixFile file = real_form(coordinate + "general\n1 1 2\n1 1 1 2\n1 1 3 4\n");
  check_same(file.matrix, form_of({{{4, 6}}}));
  CHECK(file.report.field == Field::complex);
  CHECK(file.report.duplicates > 0);
  const MatrixFile odd = real_form(coordinate + "general\n1 2 2\n1 1 0 0\n1 2 nan 1\n");
  CHECK(odd.report.explicit_zeros == 1);
  CHECK(odd.report.nonfinite == 1);
  CHECK(odd.report.first_nonfinite == "A.mtx:4:5");
}

TEST_CASE("defects of complex files have their place") {
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"general\n1 1 1\n1 1 1\n", "A.mtx:3:6: found end of line, expected the imaginary part"},
           {"general\n1 1 1\n1 1 1 x\n", "A.mtx:3:7: found 'x', expected a real value"},
           {"general\n1 1 1\n1 1 1 2 3\n", "A.mtx:3:9: found '3', expected end of line"},
           {"general\n1 1 1\n1 2 1 2\n", "A.mtx:3:3: found '2', expected a column in 1..1"},
           {"general\n2 2 2\n1 1 1 2\n%%%%%\n", "A.mtx:5:1: found end of file after 1, expected 2 entries"},
           {"general\n2 2 1\n1 1 1 2\n2 2 1 2\n", "A.mtx:4:1: found entry 2, expected end of file"},
           {"hermitian\n1 1 1\n1 1 1 2\n", "A.mtx:3:1: found a diagonal entry with an imaginary part"},
           {"skew-symmetric\n2 2 1\n1 1 1 2\n", "A.mtx:3:1: found the diagonal entry (1, 1)"},
           {"symmetric\n2 2 2\n2 1 1 2\n1 2 1 2\n",
            "A.mtx:4:1: found entry (1, 2) as well as its mirror image (2, 1) of line 3, expected one of the two"},
           {"general\n3 2 2\n3 2 1 1e308\n3 2 2 1e308\n",
            "A.mtx: found duplicates in row 3 and column 2 whose sum overflows"}}) {
    CAPTURE(text);
    const std::string message = refusal<InputError>([&] { (void)real_form(coordinate + text); });
    CHECK(message.starts_with(said));
    CHECK(message.find("--") == std::string::npos);  // of a library, which knows no option of the program
  }
  const ReadOptions repair{.repair = true, .complex = ReadOptions::Complex::as_real_form};
  const std::string both = coordinate + "hermitian\n2 2 2\n2 1 1 2\n1 2 1 -2\n";
  CHECK(parse_matrix_market(both, "A.mtx", repair).report.mirrored == 1);
  CHECK_THROWS_AS(parse_matrix_market(coordinate + "hermitian\n2 2 2\n2 1 1 2\n1 2 1 2\n", "A.mtx", repair),
                  InputError);
  CHECK_THROWS_AS(parse_matrix_market(coordinate + "general\n1 1 1\n1 1 1 2\n", "A.mtx"), InputError);
}
