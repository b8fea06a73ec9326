// seidel bench compare OLD.json NEW.json
#include <seidel/drivers/bench/compare.hpp>
#include <seidel/drivers/commands.hpp>

namespace seidel::drivers {

int run(const BenchCompareOptions& options) {
  print(options, bench::text_of(bench::compare(options.old_file, options.new_file)));
  return 0;
}

}  // namespace seidel::drivers
