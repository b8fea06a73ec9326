#include <seidel/drivers/commands.hpp>
#include <seidel/formats/errors.hpp>
namespace seidel::drivers { int run(const ValidateOptions&) { throw UsageError("not yet"); } }
