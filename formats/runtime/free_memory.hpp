// What a control group leaves of host memory; available_bytes(Host) in memory.hpp asks here.
#pragma once
#include <cstdint>
#include <string>

namespace seidel {

/// Bytes that a control group (version 2) still allows, whose files are in `folder`; INT64_MAX where it sets no limit.
std::int64_t free_in_group(const std::string& folder);

}  // namespace seidel
