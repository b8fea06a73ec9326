// What commands say, and where it goes.
#include <unistd.h>

#include <cstdio>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/text.hpp>

namespace seidel::drivers {

void print(const CommonOptions& options, const std::string& text, bool output_is_taken) {
  if (options.quiet) return;
  std::fflush(stdout);
  if (output_is_taken || options.json == "-")
    std::fputs(text.c_str(), stderr);
  else
    write_text("-", text);
}

Terminal terminal_of(const CommonOptions& options, bool output_is_taken) {
  return Terminal::of(output_is_taken || options.json == "-" ? STDERR_FILENO : STDOUT_FILENO);
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
