// No preconditioner.
#pragma once
#include <cstdint>
#include <string>

namespace seidel {

/// z = r.
struct IdentityPreconditioner {
  template <class V>
  void apply(const V& r, V& z) const {
    copy(r, z);
  }
  bool is_symmetric() const { return true; }
  template <class Matrix>
  void update_values(const Matrix&) {}
  std::int64_t bytes() const { return 0; }
  std::string describe() const { return "none"; }
};

}  // namespace seidel
