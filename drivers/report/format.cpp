// The one file of the program that compiles fmt.
#include <fmt/format.h>

#include <seidel/drivers/report/format.hpp>

namespace seidel::drivers {

std::string formatted_with(fmt::string_view pattern, fmt::format_args arguments) {
  return fmt::vformat(pattern, arguments);
}

}  // namespace seidel::drivers
