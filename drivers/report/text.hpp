// Numbers, lines and tables as a reader of a terminal likes them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::drivers {

/// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");
/// Powers of 1000: "999 B", "1.23 MB".
std::string human_bytes(std::int64_t bytes);
/// "12.3 us", "4.56 ms", "7.89 s", "3 min 20 s", "2 h 5 min".
std::string human_seconds(double seconds);
/// A residual or an error: two digits, "1.0e-08"; 0 is "0".
std::string brief(double value);

/// What the stream's terminal can show.
struct Terminal {
  bool interactive = false;  // a terminal, not a file or a pipe
  bool colours = false;      // and not told otherwise by NO_COLOR or TERM=dumb
  bool unicode = false;      // the locale's encoding is UTF-8
  int width = 100;           // columns

  static Terminal of(int file_descriptor);
};

/// Text between the codes that colour it, or as it is.
class Paint {
 public:
  explicit Paint(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string green(std::string_view text) const { return wrap("1;32", text); }
  std::string red(std::string_view text) const { return wrap("1;31", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }

 private:
  std::string wrap(const char* code, std::string_view text) const;
  bool on_;
};

/// "label   text", labels in one column, long text broken at blanks and indented under itself.
class Lines {
 public:
  explicit Lines(const Terminal& terminal) : terminal_(terminal) {}
  Lines& item(std::string_view label, std::string_view text);
  Lines& blank();
  Lines& raw(std::string_view text);  // as it is, and a line end
  const std::string& text() const { return text_; }

 private:
  Terminal terminal_;
  std::string text_;
};

/// A header and rows of as many cells, for a terminal, or for HtmlPage.
struct Table {
  using Row = std::vector<std::string>;
  Row header;
  std::vector<Row> rows = {};

  void row(Row cells) { rows.push_back(std::move(cells)); }
  /// Columns as wide as their widest cell; numbers to the right.
  std::string text(const Paint& paint) const;
};

}  // namespace seidel::drivers
