// Numbers, lines and tables.
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include <seidel/drivers/report/text.hpp>

namespace seidel::drivers {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

namespace {

/// Three digits: 1.23, 12.3, 123.
std::string three_digits(double value) {
  return value < 9.995   ? formatted("{:.2f}", value)
         : value < 99.95 ? formatted("{:.1f}", value)
                         : formatted("{:.0f}", value);
}

/// Columns that UTF-8 text takes, colour codes taken as nothing.
std::size_t columns(std::string_view text) {
  std::size_t n = 0;
  bool code = false;
  for (const unsigned char c : text) {
    if (c == 0x1b) code = true;
    if (!code && (c & 0xC0) != 0x80) ++n;
    if (code && c == 'm') code = false;
  }
  return n;
}

bool is_number(std::string_view cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-' || cell[0] == '+');
}

}  // namespace

std::string human_bytes(std::int64_t bytes) {
  if (bytes < 1000) return formatted("{} B", bytes);
  double value = double(bytes);
  const char* units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = -1;
  do value /= 1000, ++unit;
  while (value >= 999.5 && unit < 5);
  return three_digits(value) + " " + units[unit];
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "no limit";
  if (seconds < 1e-9) return "0 s";
  if (seconds < 0.9995e-6) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 99.5) return three_digits(seconds) + " s";
  const auto whole = std::int64_t(std::min(seconds + 0.5, 1e15));
  if (whole < 3600) return formatted("{} min {} s", whole / 60, whole % 60);
  return formatted("{} h {} min", count(whole / 3600), whole % 3600 / 60);
}

std::string brief(double value) { return value == 0 ? "0" : formatted("{:.1e}", value); }

Terminal Terminal::of(int file_descriptor) {
  Terminal terminal;
  terminal.unicode = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  // Open MPI gives its processes a terminal, wherever their output goes.
  if (!isatty(file_descriptor) || std::getenv("OMPI_COMM_WORLD_SIZE")) return terminal;
  terminal.interactive = true;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  terminal.colours = !(no_colour && *no_colour) && term && std::string_view(term) != "dumb";
  winsize size{};
  if (ioctl(file_descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    terminal.width = std::max<int>(size.ws_col, 40);
  return terminal;
}

std::string Paint::wrap(const char* code, std::string_view text) const {
  return on_ ? formatted("\033[{}m{}\033[0m", code, text) : std::string(text);
}

Lines& Lines::item(std::string_view label, std::string_view text) {
  constexpr std::int64_t label_width = 17;
  std::string line(label);
  if (!text.empty()) line.append(std::max<std::int64_t>(1, label_width - std::int64_t(columns(label))), ' ');
  const std::size_t width = std::min(terminal_.width, 110);
  bool first_word = true;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (!first_word && columns(line) + 1 + columns(word) > width) {
      text_ += line + "\n";
      line.assign(std::size_t(label_width), ' ');
      first_word = true;
    }
    if (!first_word) line += ' ';
    line += word;
    first_word = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  text_ += line + "\n";
  return *this;
}

Lines& Lines::blank() { return text_ += "\n", *this; }
Lines& Lines::raw(std::string_view text) { return text_.append(text) += "\n", *this; }

std::string Table::text(const Paint& paint) const {
  std::vector<std::size_t> width;
  for (const std::string& cell : header) width.push_back(columns(cell));
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns(row[i]));
  const auto line_of = [&](const Row& row, const Row& aligned_as) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(width[i] - columns(row[i]), ' ');
      if (i) line += "  ";
      line += is_number(aligned_as[i]) ? padding + row[i] : row[i] + padding;
    }
    return line.erase(line.find_last_not_of(' ') + 1);
  };
  // A header stands over its numbers.
  std::string text = paint.bold(line_of(header, rows.empty() ? header : rows.front())) + "\n";
  for (const Row& row : rows) text += line_of(row, row) + "\n";
  return text;
}

}  // namespace seidel::drivers
