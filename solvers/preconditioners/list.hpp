// The table of preconditioners. A new one: its header, its entry (as jacobi.cpp), its two lines here, its test.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/distributed.hpp>
#include <seidel/solvers/settings.hpp>

namespace seidel {

struct MethodChoice;
template <Backend B>
struct MadePreconditioner;  // make.hpp

/// In which order sweeps take the rows.
enum class Order {
  natural,  // as in the matrix: fewest iterations
  colours,  // all rows of a colour at once: more at the same time, more iterations
};
std::string_view to_string(Order);
inline constexpr Order natural_order[] = {Order::natural};

/// What is known of the smooth error of A beside its entries (multigrid/nodes.hpp).
struct NearNullVectors {
  MultiVectorView<const double, Host> vectors = {};  // n x m, column-major; m = 0: not known
  Index unknowns_per_node = 0;                       // 0: not known
};

/// The same matrix in host memory and in the memory of B; there it must outlive what is made of it.
template <Backend B, class Offset>
struct HereAndThere {
  CsrView<double, Offset, Host> here;
  CsrView<double, Offset, typename B::Space> there;
  NearNullVectors near_null = {};
};

/// What is known of a system before memory is taken for it.
struct SystemSize {
  std::int64_t nrows = 0, nnz = 0;
  std::int64_t bytes_per_offset = 4;
  bool on_device = false;
};
struct MemoryPart {
  std::string what;
  std::int64_t bytes = 0;      // as well as sizes alone tell
  std::int64_t min_bytes = 0;  // certainly taken
};

/// Sweeps keep a matrix in two triangles, in the order in which they meet its rows, and vectors beside them. On the host
/// columns that rows share are stored once.
MemoryPart sweep_memory(const SystemSize& A, std::int64_t bytes_per_value);

template <class Offset, Backend B>
class DistributedMatrix;  // kernels/distributed/matrix.hpp

template <Backend B, class Offset>
using MakePreconditioner = MadePreconditioner<B> (*)(const B& on, const HereAndThere<B, Offset>& A,
                                                     const MethodChoice& choice);

/// Of a matrix whose rows several processes share, each with its own rows of near_null. Every process calls it.
template <Backend B, class Offset>
using MakeDistributed = MadePreconditioner<Distributed<B>> (*)(const DistributedMatrix<Offset, B>& A,
                                                               const NearNullVectors& near_null,
                                                               const MethodChoice& choice);

/// What everybody else needs to know of a preconditioner.
struct PreconditionerKind {
  std::string_view name, help;
  bool needs_diagonal = false;                            // full and nonzero
  bool needs_definite = false;                            // A symmetric with a positive diagonal
  bool needs_positive = false;                            // the diagonal, and a symmetric pattern
  bool keeps_symmetry = true;                             // M is symmetric where A is
  bool sweeps = false;                                    // takes rows that depend on others after these
  bool (*is_linear)(const Settings& settings) = nullptr;  // as concepts.hpp says; null: always
  std::span<const Setting> settings = {};
  std::span<const Order> orders = natural_order;
  std::string_view (*name_with)(const Settings& settings) = nullptr;  // another name that settings give it; null: none
  /// What it holds beside A.
  std::vector<MemoryPart> (*memory)(const SystemSize& size, const MethodChoice& choice) = nullptr;
  /// The bytes of the first part, counted from the pattern; null where memory() knows. Every diagonal entry is stored.
  std::int64_t (*count)(const OpenMP& on, const CsrView<double, std::int64_t, Host>& A,
                        const MethodChoice& choice) = nullptr;
  /// On each back end; null where that is not built.
  std::tuple<MakePreconditioner<OpenMP, std::int32_t>, MakePreconditioner<OpenMP, std::int64_t>,
             MakePreconditioner<Cuda, std::int32_t>, MakePreconditioner<Cuda, std::int64_t>>
      make = {};
  /// Where processes share the rows; null where that is not built, or the rows of each process are taken on their own
  /// (per_process.hpp).
  std::tuple<MakeDistributed<OpenMP, std::int32_t>, MakeDistributed<OpenMP, std::int64_t>,
             MakeDistributed<Cuda, std::int32_t>, MakeDistributed<Cuda, std::int64_t>>
      make_distributed = {};

  static const PreconditionerKind none, jacobi, symgs, ilu0, ic0, ilut, ict, amg;
  friend bool operator==(const PreconditionerKind& a, const PreconditionerKind& b) { return a.name == b.name; }
};
inline constexpr std::reference_wrapper<const PreconditionerKind> preconditioners[] = {
    PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::symgs, PreconditionerKind::ilu0,
    PreconditionerKind::ic0,  PreconditionerKind::ilut,   PreconditionerKind::ict,   PreconditionerKind::amg};

inline std::string_view to_string(const PreconditionerKind& kind) { return kind.name; }

}  // namespace seidel
