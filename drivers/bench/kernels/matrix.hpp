// A sparse matrix as the operand of a kernel.
#pragma once
#include <optional>

#include <seidel/drivers/bench/kernel.hpp>
#include <seidel/formats/csr.hpp>

namespace seidel::drivers {

using Matrix = Csr<double, std::int64_t, Host>;

struct MatrixOperand : Operand {
  MatrixOperand(std::string name, Matrix A);
  Matrix A;
  /// A with offsets of 32 bits, as users have it and libraries take it: made by csr_of() when a rival first asks.
  std::optional<Csr<double, std::int32_t, Host>> narrow;
  std::optional<Csr<double, std::int32_t, Device>> narrow_on_device;
};

/// A as an answer: row pointers and column indices, both std::int32_t, and values of double.
template <Backend B>
Answer answer_of(const B& on, const CsrView<double, std::int32_t, typename B::Space>& A) {
  Answer answer;
  answer.add(on, A.row_ptr), answer.add(on, A.col_idx), answer.add(on, A.values);
  return answer;
}

/// A with rows and columns gathered by colour.
MatrixOperand by_colours(const MatrixOperand& operand);

/// Refuses NaN and infinity, which make every answer right. Errors  InputError naming the entry.
void require_finite(const Operand& operand);

namespace kernels {
extern const OperandKind matrix;
}

}  // namespace seidel::drivers
