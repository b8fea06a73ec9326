// No preconditioner.
#pragma once
#include <cstdint>
#include <string>

namespace seidel {

/// z = r.
struct IdentityPreconditioner {
  void apply(const auto& r, auto& z) const { copy(r, z); }
  bool is_symmetric() const { return true; }
  void update_values(const auto&) {}
  std::int64_t bytes() const { return 0; }
  std::string describe() const { return "none"; }
};

}  // namespace seidel
