// No preconditioner.
#pragma once

namespace seidel {

/// z = r.
struct IdentityPreconditioner {
  template <class V>
  void apply(const V& r, V& z) const {
    copy(r, z);
  }
  bool is_symmetric() const { return true; }
};

}  // namespace seidel
