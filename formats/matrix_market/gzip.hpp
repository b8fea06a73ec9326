// The text of a gzip file, inflated in pieces of the requested size; and gzip of a text.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace seidel::mm {

class Inflater {
 public:
  /// `file` is for messages. Both must outlive this.
  Inflater(std::string_view packed, const std::string& file);
  /// Writes `room` bytes of text to `to`, or fewer at its end; returns their number. Errors  InputError, ResourceError.
  std::int64_t read(char* to, std::int64_t room);
  bool at_end() const { return at_end_; }
  /// Packed bytes read so far.
  std::int64_t taken() const { return std::int64_t(at_); }

 private:
  std::string_view packed_;
  const std::string& file_;
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
  std::size_t at_ = 0;
  bool at_end_ = false;
};

/// The largest number of bytes of text that so many packed bytes can hold.
inline std::int64_t most_text(std::string_view packed) { return 1032 * std::int64_t(packed.size()); }
inline bool is_gzip(std::string_view bytes) { return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }
/// Whether a file of this name is to be written as gzip: .gz, in any case of letters.
bool names_gzip(std::string_view path);
/// One gzip member of a text of less than 4 GB; members may follow one another in a file. Empty if memory is out.
std::string gzip(std::string_view text);

}  // namespace seidel::mm
