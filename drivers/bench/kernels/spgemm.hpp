// Products of sparse matrices, with offsets of 32 bits.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/drivers/bench/kernels/matrix.hpp>

namespace seidel::drivers {

/// The two matrices of a product; B may be A.
struct ProductOperand : Operand {
  std::unique_ptr<MatrixOperand> A, other;
  MatrixOperand& B() { return other ? *other : *A; }
};

/// The answer is a matrix, the columns of whose rows may be in any order.
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

}  // namespace seidel::drivers
