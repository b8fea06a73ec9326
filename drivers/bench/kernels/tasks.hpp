// The kernels there are, what each works on, and what it is asked for there. A new one: its file, its operand and its task, its
// line below and in list.cpp, its rivals, its test.
#pragma once
#include <array>

#include <seidel/drivers/bench/kernel.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/dense.hpp>

namespace seidel::drivers {

namespace kernels {

extern const Kernel spmv, spmm;
extern const Kernel symgs, symgs_guess;
extern const Kernel transpose, transpose_values;
extern const Kernel spgemm, spgemm_values;
extern const Kernel amg, amg_values, amg_cycle;
extern const Kernel scan;
extern const Kernel sort_segments, merge_segments, pointers_to_indices, indices_to_pointers;
extern const Kernel gemm, gemm_fp32;

extern const OperandKind matrix;

}  // namespace kernels

/// What makes a task: the constructor of Its, which takes an operand of this kind, the options, and what tells apart
/// kernels that share the task.
template <class Its, class Kind, auto... variant>
std::unique_ptr<Task> made(Operand& operand, const TaskOptions& options) {
  return std::make_unique<Its>(dynamic_cast<Kind&>(operand), options, variant...);
}

using Matrix = Csr<double, std::int64_t, Host>;

struct MatrixOperand : Operand {
  MatrixOperand(std::string name, Matrix A);
  Matrix A;
  /// A with offsets of 32 bits, as users have it and libraries take it: made by csr_of() when a rival first asks.
  std::optional<Csr<double, std::int32_t, Host>> narrow;
  std::optional<Csr<double, std::int32_t, Device>> narrow_on_device;
};

/// A with rows and columns gathered by colour.
MatrixOperand by_colours(const MatrixOperand& operand);

/// Refuses NaN and infinity, which make every answer right. Errors  InputError naming the entry.
void require_finite(const Operand& operand);

/// A as an answer: row pointers and column indices, both std::int32_t, and values of double.
template <Backend B>
Answer answer_of(const B& on, const CsrView<double, std::int32_t, typename B::Space>& A) {
  Answer answer;
  answer.add(on, A.row_ptr), answer.add(on, A.col_idx), answer.add(on, A.values);
  return answer;
}

/// Y = A X, of one column or several. The answer is one array of double: Y.
struct ProductTask : Task {
  ProductTask(MatrixOperand& of, const TaskOptions& options);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
  std::int64_t k;
  Layout layout;    // of X and Y
  Array<double> x;  // X
};

/// A forward and a backward Gauss-Seidel sweep. The answer is one array of double: x after the pair.
struct SweepTask : Task {
  enum class Start { zero, guess };
  SweepTask(MatrixOperand& of, const TaskOptions& options, Start start);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
  std::int64_t k;
  Layout layout;        // of b and x
  Array<double> b;      // right-hand sides
  Array<double> guess;  // what x holds at first; empty: it is zero
};

/// For rivals that sweep for one right-hand side. Errors  ResourceError if there are more.
void require_one_column(const SweepTask& task);

/// The transpose of a sparse matrix, with offsets of 32 bits. The answer is a matrix.
struct TransposeTask : Task {
  enum class Pattern { is_new, is_known };  // known: only values move, from places that are kept
  TransposeTask(MatrixOperand& of, const TaskOptions& options, Pattern pattern);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
};

/// The two matrices of a product; B may be A.
struct ProductOperand : Operand {
  std::unique_ptr<MatrixOperand> A, other;
  MatrixOperand& B() { return other ? *other : *A; }
};

/// A product of sparse matrices, with offsets of 32 bits. The answer is a matrix, the columns of whose rows may be in any order.
struct SparseProductTask : Task {
  enum class Found { all, values };
  SparseProductTask(ProductOperand& of, const TaskOptions& options, Found found);
  double error(const Answer& answer) const override;

  ProductOperand& of;

 private:
  struct Entry {
    Index column;
    double expected, allowed;  // the sum in long double, and what others may be off by
  };
  std::vector<std::vector<Entry>> rows_;  // of C, columns ascending
  std::int64_t nnz_;
};

/// The setup of algebraic multigrid, new values, or one cycle. The answer is one array of double: what a cycle from zero makes of
/// A z = r.
struct MultigridTask : Task {
  enum class Step { setup, values, cycle };
  /// Errors  InputError unless x'A x is positive for the random x that is looked for.
  MultigridTask(MatrixOperand& of, const TaskOptions& options, Step step);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
  Array<double> r;  // A x, rounded

 private:
  Array<double> x_;
  long double energy_;  // x'A x
};

/// How many entries an array has.
struct SizeOperand : Operand {
  std::int64_t n = 0;
};

/// An exclusive scan of 32-bit counts into 64-bit offsets. The answer is one array of std::int64_t: the offsets.
struct ScanTask : Task {
  ScanTask(const SizeOperand& of, const TaskOptions& options);
  double error(const Answer& answer) const override;

  Array<std::int32_t> counts;
};

/// How many pairs there are, and how many of them a segment has.
struct SegmentsOperand : Operand {
  std::int64_t n = 0, length = 1;
};

/// Keys with a number each, in segments of `length`. The answer is one array of Index: all keys, then all numbers.
struct SegmentsTask : Task {
  enum class Step { sort, merge };
  SegmentsTask(const SegmentsOperand& of, const TaskOptions& options, Step step);
  double error(const Answer& answer) const override;

  Array<Index> pairs;  // all keys, then all numbers; sorted in each segment where they are to be merged
  std::int64_t length;
  Array<Index> expected;
};

/// Rows of 20 entries on average. The answer is one array of Index: the pointers of the rows, or the row of each entry.
struct PointersTask : Task {
  enum class Direction { to_indices, to_pointers };
  PointersTask(const SizeOperand& of, const TaskOptions& options, Direction direction);
  double error(const Answer& answer) const override;

  Array<Index> given, expected;
};

/// C = A B of dense matrices, A m x k, B k x n, all column-major, as the libraries take them.
struct DenseOperand : Operand {
  std::int64_t m = 0, n = 0, k = 0;
};

/// M, N and K of "MxNxK". Errors  UsageError unless each is from `least` to `most`.
std::array<std::int64_t, 3> product_extents(const std::string& word, std::int64_t least, std::int64_t most,
                                            const char* example);

/// The answer is one array of Real: C.
template <class Real>
struct DenseTask : Task {
  DenseTask(const DenseOperand& of, const TaskOptions& options);
  double error(const Answer& answer) const override;

  std::int64_t m, n, k;
  Array<Real> a, b;
};

}  // namespace seidel::drivers
