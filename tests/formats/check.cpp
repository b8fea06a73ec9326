// check() accepts what is canonical and names the first fault of what is not.
#include <seidel/formats/check.hpp>

#include <string>

#include "../backends.hpp"
#include "../matrices.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// What check() says of A, on any number of threads.
template <class Real, class Offset>
std::string said_of(const CsrView<Real, Offset, Host>& A) {
  std::string first;
  for (int threads : {1, 2, 3, 7}) {
    const std::string said = refusal<InputError>([&] { check(OpenMP{threads}, A); });
    if (threads == 1) first = said;
    CHECK(said == first);
  }
  return first;
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("check accepts every canonical matrix, with either scalar and either offset") {
  for (const auto& [name, A] : awkward_matrices()) {
    CAPTURE(name);
    CHECK(said_of(A.view()) == "nothing was thrown");
    CHECK(said_of(as<float, std::int32_t>(A).view()) == "nothing was thrown");
    CHECK_NOTHROW(check(A.view()));
    CHECK_NOTHROW(check(OpenMP{1}, A.view()));
  }
}

TEST_CASE("check names the first wrong row, counted from 1") {
  for (Index n : {3, 40000}) {  // one share, and many
    CAPTURE(n);
    const auto broken = [&](auto breaks) {
      Matrix A = tridiagonal(n);
      breaks(A);
      return said_of(A.view());
    };
    const std::int64_t nnz = 3 * std::int64_t(n) - 2;
    CHECK(starts_with(broken([](Matrix& A) { A.row_ptr[0] = 1; }), "row 1: found row_ptr[0] = 1, expected 0\n"));
    CHECK(starts_with(broken([](Matrix& A) { A.row_ptr[2] = 1; }),
                      "row 2: found row_ptr[2] = 1, expected 2 ... " + std::to_string(nnz)));
    CHECK(starts_with(broken([](Matrix& A) { A.row_ptr[2] = 1 << 20; }), "row 2: found row_ptr[2] = 1048576"));
    CHECK(starts_with(broken([](Matrix& A) { A.row_ptr[2] = -5; }), "row 2: found row_ptr[2] = -5"));
    CHECK(starts_with(
        broken([&](Matrix& A) { A.row_ptr[n] = nnz - 1; }),
        "row " + std::to_string(n) + ": found row_ptr[" + std::to_string(n) + "] = " + std::to_string(nnz - 1)));
    CHECK(starts_with(broken([](Matrix& A) { std::swap(A.col_idx[2], A.col_idx[3]); }),
                      "row 2: found entry 2 in column 1 after column 2, expected ascending columns\n"));
    CHECK(starts_with(broken([](Matrix& A) { A.col_idx[3] = A.col_idx[2]; }),
                      "row 2: found entry 2 in column 1 again, expected distinct columns\n"));
    CHECK(starts_with(broken([&](Matrix& A) { A.col_idx[nnz - 1] = n; }),
                      "row " + std::to_string(n) + ": found entry 2 in column " + std::to_string(n + 1) +
                          ", expected 1 ... " + std::to_string(n)));
    CHECK(
        starts_with(broken([](Matrix& A) { A.col_idx[0] = -1; }), "row 1: found entry 1 in column 0, expected 1 ... "));
    CHECK(
        starts_with(broken([](Matrix& A) { A.col_idx[0] = INT32_MIN; }), "row 1: found entry 1 in column -2147483647"));
    CHECK(starts_with(broken([&](Matrix& A) { A.col_idx[4] = n, A.col_idx[nnz - 1] = -7; }),
                      "row 2: found entry 3"));  // the first of two
  }
}

TEST_CASE("check refuses arrays of the wrong size before it looks into them") {
  const Matrix A = tridiagonal(5);
  const auto view = A.view();
  auto wrong = view;
  wrong.row_ptr = view.row_ptr.subspan(0, 5);
  CHECK_THROWS_AS(check(wrong), ShapeError);
  wrong = view;
  wrong.col_idx = view.col_idx.subspan(0, 12);
  CHECK_THROWS_AS(check(wrong), ShapeError);
  wrong = view;
  wrong.values = view.values.subspan(0, 12);
  wrong.col_idx = view.col_idx.subspan(0, 12);
  CHECK_THROWS_AS(check(wrong), InputError);
  wrong = view;
  wrong.nrows = -1;
  CHECK_THROWS_AS(check(wrong), ShapeError);
  CHECK_THROWS_AS(check(CsrView<double, std::int64_t, Host>{}), ShapeError);  // no row_ptr[0]
  wrong = view;
  wrong.values = {nullptr, view.nnz()};
  CHECK_THROWS_WITH_AS(check(wrong), doctest::Contains("null pointer for values"), ShapeError);
  wrong.row_ptr = {nullptr, 6};
  CHECK_THROWS_WITH_AS(check(wrong), doctest::Contains("null pointer for row_ptr"), ShapeError);
}

TEST_CASE("check of triplets names the first entry outside the matrix") {
  Coo<double> A{3, 4, std::vector<Index>{0, 2, 1}, std::vector<Index>{3, 0, 1}, std::vector<double>{1, 2, 3}};
  CHECK_NOTHROW(check(OpenMP{2}, A.view()));
  A.col_idx[1] = 4;
  CHECK(starts_with(refusal<InputError>([&] { check(OpenMP{2}, A.view()); }),
                    "entry 2: found place (3, 5), expected a place of the 3 x 4 matrix\n"));
  A.col_idx[1] = 0, A.row_idx[2] = -1;
  CHECK_THROWS_AS(check(OpenMP{1}, A.view()), InputError);
}
