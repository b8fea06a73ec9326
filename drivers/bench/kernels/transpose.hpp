// The transpose of a sparse matrix, with offsets of 32 bits.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>
#include <seidel/drivers/bench/kernels/matrix.hpp>

namespace seidel::drivers {

/// The answer is three arrays: row pointers and column indices, both std::int32_t, and values of double.
struct TransposeTask : Task {
  enum class Pattern { is_new, is_known };  // known: only values move, from places that are kept
  TransposeTask(MatrixOperand& of, Pattern pattern);
  double error(const Answer& answer) const override;

  MatrixOperand& of;
};

/// T as the answer to a transposition.
template <Backend B>
Answer answer_of(const B& on, const CsrView<double, std::int32_t, typename B::Space>& T) {
  Answer answer;
  answer.add(on, T.row_ptr), answer.add(on, T.col_idx), answer.add(on, T.values);
  return answer;
}

}  // namespace seidel::drivers
