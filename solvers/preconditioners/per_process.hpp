// A preconditioner of the rows of each process, without the others.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

/// z = M^-1 r, where M is block-diagonal: a block for the rows of each process, the preconditioner of their entries between
/// themselves (own_block() of kernels/distributed/halo.hpp). Symmetric where the blocks are. The more processes, the more couplings are left out, so
/// the more iterations: x has the same bits for the same number of processes only. No messages.
template <Backend B>
class PerProcess {
  using Local = Vector<double, B>;
  using V = Vector<double, Distributed<B>>;

 public:
  /// No block where there are no rows. `kept`: what the block needs for as long as it is used.
  PerProcess(std::optional<AnyPreconditioner<Local>> block, bool is_symmetric, std::shared_ptr<const void> kept)
      : kept_(std::move(kept)), block_(std::move(block)), is_symmetric_(is_symmetric) {}

  void apply(const V& r, V& z) const {
    if (!block_) return;
    const B& on = r.on().local();
    const Local from(on, Span<double, SpaceOf<B>>(const_cast<double*>(r.span().data()), r.size()));  // only read
    Local to(on, z.span());
    block_->apply(from, to);
  }
  bool is_symmetric() const { return is_symmetric_; }
  std::int64_t bytes() const { return block_ ? block_->bytes() : 0; }
  std::string describe() const { return (block_ ? block_->describe() : "none") + " of the rows of each process"; }

 private:
  std::shared_ptr<const void> kept_;
  std::optional<AnyPreconditioner<Local>> block_;
  bool is_symmetric_;
};

/// That of choice.preconditioner, of the whole matrix where it can be, else of the rows of each process. What there is to say is of
/// the rows here. Every process calls it. `near_null` are the rows here of that.
/// Errors  those of the preconditioner, with rows counted from the first one of the process, on all processes.
template <Backend B, class Offset>
MadePreconditioner<Distributed<B>> make_distributed(const DistributedMatrix<Offset, B>& A,
                                                    const NearNullVectors& near_null, const MethodChoice& choice) {
  using Space = SpaceOf<B>;
  if (const auto make = std::get<MakeDistributed<B, Offset>>(choice.preconditioner.make_distributed))
    return make(A, near_null, choice);
  struct Block {
    Csr<double, Offset, Space> there;
    Csr<double, Offset> copy;  // on a GPU only
  };
  const bool is_symmetric = choice.preconditioner.keeps_symmetry;
  MadePreconditioner<Distributed<B>> made{.M = PerProcess<B>({}, is_symmetric, {})};
  together(A.on().rows().all, [&] {
    if (A.nrows() == 0) return;
    const B& on = A.on().local();
    auto block = std::make_shared<Block>();
    block->there = own_block(on, A.halo(), A.rows());
    const auto there = std::as_const(block->there).view();
    auto of_block = make_preconditioner<B, Offset>(on, {brought_to(on, there, block->copy), there, near_null}, choice);
    made = {.M = PerProcess<B>(std::move(of_block.M), is_symmetric, std::move(block)),
            .wavefronts = of_block.wavefronts,
            .shift = of_block.shift,
            .levels = std::move(of_block.levels)};
  });
  return made;
}

}  // namespace seidel
