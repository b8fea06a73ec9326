// seidel bench read: reading a Matrix Market file, against a bare scan of its bytes.
#include <seidel/drivers/commands.hpp>
#include <seidel/formats/errors.hpp>

namespace seidel::drivers {

int run(const BenchReadOptions&) { throw UsageError("seidel bench read: not in this build"); }

}  // namespace seidel::drivers
