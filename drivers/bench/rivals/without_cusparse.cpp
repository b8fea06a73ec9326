// A build without CUDA has no rivals of the vendor's library.
#include <seidel/drivers/bench/rivals/lists.hpp>

namespace seidel::drivers {

std::vector<Rival> cusparse_rivals() { return {}; }

}  // namespace seidel::drivers
