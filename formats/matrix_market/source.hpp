// The bytes of an input: a mapped file, or the contents of a pipe or of gzip.
#pragma once
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <seidel/formats/matrix_market/matrix_market.hpp>

namespace seidel::mm {

class Growing;

/// Text that stays at its address during the lifetime of this object.
class Source {
 public:
  /// Opens `path`, "-" being standard input; for gzip, text() is still compressed. Errors  InputError, ResourceError.
  Source(const std::string& path, const ReadOptions& options);
  /// A caller's text.
  Source(std::string_view text, std::string file);
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Inflates gzip: text() is then the text. Errors  InputError, ResourceError.
  void inflate(const ReadOptions& options);

  const std::string& file() const { return file_; }
  std::string_view text() const { return text_; }
  const char* end() const { return text_.data() + text_.size(); }  // of the text
  std::int64_t file_bytes() const { return file_bytes_; }
  /// Bytes of memory the text holds: none if the file is mapped.
  std::int64_t held_bytes() const { return buffer_ ? std::int64_t(text_.size()) : 0; }
  /// Tells the system that these bytes are not needed for now, so that a mapped file does not count as used memory.
  void done_with(const char* first, const char* last) const;
  /// Errors  InputError if the file was changed while it was read.
  void check_unchanged() const;

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  using Buffer = std::unique_ptr<char, Free>;
  friend class Growing;

  void read_all(const ReadOptions& options);
  void keep(Growing& buffer);

  std::string file_;
  int descriptor_ = -1;
  std::int64_t file_bytes_ = 0;
  std::string_view mapped_;  // the whole file, if it could be mapped
  Buffer buffer_;            // otherwise what was read or inflated
  std::string_view text_;
  std::uint64_t changed_ns_ = 0;  // when the file was last changed, as seen at the start
};

}  // namespace seidel::mm
