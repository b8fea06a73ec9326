// The back ends as the command line names them.
#pragma once
#include <array>
#include <string_view>

namespace seidel::drivers {

enum class BackendName { automatic, serial, openmp, cuda };

/// In the order of their values.
inline constexpr std::array<std::string_view, 4> backend_names = {"auto", "serial", "openmp", "cuda"};
inline std::string_view to_string(BackendName backend) { return backend_names[std::size_t(backend)]; }

}  // namespace seidel::drivers
