// What commands say, and where it goes.
#include <cstdio>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>

namespace seidel::drivers {

void print(const CommonOptions& options, const std::string& text, bool output_is_taken) {
  if (options.quiet) return;
  std::fflush(stdout);
  if (output_is_taken || options.json == "-")
    std::fputs(text.c_str(), stderr);
  else
    write_text("-", text);
}

void print_written(const CommonOptions& options, const std::string& out, const std::string& from,
                   const std::string& what) {
  const bool to_stdout = out == "-";
  print(options, (to_stdout ? from : out) + ": " + what + "\n", to_stdout);
}

void say(const CommonOptions& options, const std::string& text) {
  if (!options.quiet) std::fprintf(stderr, "seidel: %s\n", text.c_str());
}

}  // namespace seidel::drivers
