// Places in a text, and the messages that name them.
#include <seidel/formats/matrix_market/fault.hpp>
#include <seidel/formats/matrix_market/line.hpp>

#include <algorithm>

namespace seidel::mm {

std::int64_t line_of(const Source& source, const char* at) { return 1 + std::count(source.text().data(), at, '\n'); }

std::string place(const Source& source, const char* at) {
  const char* line = at;
  while (line > source.text().data() && line[-1] != '\n') --line;
  return source.file() + ":" + std::to_string(line_of(source, at)) + ":" + std::to_string(at - line + 1);
}

std::string word_at(const char* at, const char* line_end) {
  const char* end = at;
  while (end < line_end && !is_blank(*end)) ++end;
  if (at == end) return "end of line";
  std::string word = "'";
  for (const char* p = at; p < end; ++p) {
    if (p - at == 40) {
      word += "...";
      break;
    }
    constexpr const char* hex = "0123456789abcdef";
    const unsigned char c = static_cast<unsigned char>(*p);
    if (c >= 0x20 && c < 0x7f)
      word += *p;
    else
      word += {'\\', 'x', hex[c >> 4], hex[c & 15]};
  }
  return word + "'";
}

void raise(const Source& source, const Fault& fault) {
  throw InputError(place(source, fault.at) + ": found " + fault.found + ", expected " + fault.expected + "\n  " +
                   fault.remedy);
}

}  // namespace seidel::mm
