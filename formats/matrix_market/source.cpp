// Opening, mapping, reading and inflating an input.
#include <seidel/formats/matrix_market/source.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::mm {

/// A buffer that grows by moving pages, never beyond the available memory.
class Growing {
 public:
  Growing(const std::string& file, const ReadOptions& options)
      : file_(file), limit_(options.memory_limit > 0 ? options.memory_limit : available_bytes(Host{})) {}

  char* end() { return buffer_.get() + size_; }
  std::int64_t size() const { return size_; }
  std::int64_t room() const { return capacity_ - size_; }
  void add(std::int64_t bytes) { size_ += bytes; }
  std::string_view text() const { return {buffer_.get(), std::size_t(size_)}; }
  void reserve(std::int64_t capacity) {
    if (capacity <= capacity_) return;
    // Reserved pages that are not written cost nothing, so the limit is compared with what was written.
    if (size_ >= limit_)
      throw ResourceError(file_ + ": out of memory: the text needs more than " + std::to_string(size_) +
                          " bytes, of which " + std::to_string(limit_) +
                          " may be used\n  write it to a plain file first: that is read where it lies");
    char* grown = static_cast<char*>(std::realloc(buffer_.get(), std::size_t(capacity)));
    if (!grown)
      throw ResourceError(file_ + ": out of memory: " + std::to_string(capacity) + " bytes were needed for its text");
    buffer_.release();
    buffer_.reset(grown);
#ifdef MADV_HUGEPAGE
    const std::uintptr_t page = 1 << 21, first = (std::uintptr_t(grown) + page - 1) / page * page;
    if (capacity > 2 * std::int64_t(page))  // one page fault per 2 MiB instead of 512
      ::madvise(reinterpret_cast<void*>(first), std::uintptr_t(grown) + std::uintptr_t(capacity) - first,
                MADV_HUGEPAGE);
#endif
    capacity_ = capacity;
  }
  /// Makes room for at least a few more pages.
  void grow() {
    if (room() < 1 << 16)
      reserve(std::min(2 * capacity_ + (1 << 18), std::max(capacity_ + (1 << 18), saturating_sum(limit_, 1 << 18))));
  }
  Source::Buffer take() { return std::move(buffer_); }

 private:
  const std::string& file_;
  std::int64_t limit_, size_ = 0, capacity_ = 0;
  Source::Buffer buffer_;
};

namespace {

[[noreturn]] void refuse(const std::string& file, const char* what) {
  const std::string reason = std::strerror(errno);
  throw InputError(file + ": found a file that cannot be " + what + " (" + reason +
                   "), expected a Matrix Market file\n" + "  check the path and its permissions; standard input is -");
}

/// A banner or plain numbers, perhaps behind a byte order mark, or gzip.
bool begins_like_text(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const auto first = text.find_first_not_of(" \t\r\n");
  return is_gzip(text) || text.starts_with("%%") ||
         (first != text.npos && std::string_view("0123456789+-.#").find(text[first]) != std::string_view::npos);
}

/// Unsigned: it wraps after the year 2262, which does not matter for a comparison.
std::uint64_t changed_ns(const struct stat& status) {
  return std::uint64_t(status.st_mtim.tv_sec) * 1'000'000'000 + std::uint64_t(status.st_mtim.tv_nsec);
}

}  // namespace

Source::Source(std::string_view text, std::string file) : file_(std::move(file)), text_(text) {}

Source::Source(const std::string& path, const ReadOptions& options)
    : Source(std::string_view(), path == "-" ? "(standard input)" : path) {  // so what throws below is cleaned up after
  descriptor_ = path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse(file_, "opened");
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) refuse(file_, "examined");
  if (S_ISREG(status.st_mode) && ::lseek(descriptor_, 0, SEEK_CUR) == 0) {
    file_bytes_ = status.st_size;
    changed_ns_ = changed_ns(status);
    // A length of 0 is refused by mmap: then, too, the file is read.
    void* at = ::mmap(nullptr, std::size_t(file_bytes_), PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (at != MAP_FAILED) mapped_ = text_ = {static_cast<const char*>(at), std::size_t(file_bytes_)};
  }
  if (mapped_.empty()) read_all(options);
}

Source::~Source() {
  if (!mapped_.empty()) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Source::read_all(const ReadOptions& options) {
  Growing buffer(file_, options);
  for (std::int64_t told = 0;;) {
    buffer.grow();
    const ssize_t got = ::read(descriptor_, buffer.end(), std::size_t(std::min<std::int64_t>(buffer.room(), 1 << 24)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(file_, "read");
    if (got == 0) break;
    buffer.add(got);
    // An endless input, such as /dev/zero, is refused by its first bytes.
    constexpr std::int64_t enough = 1 << 16;
    if (buffer.size() - got < enough && buffer.size() >= enough && !begins_like_text(buffer.text())) break;
    if (options.progress && buffer.size() - told >= 1 << 22) options.progress(told = buffer.size(), 0);
  }
  keep(buffer);
}

void Source::keep(Growing& buffer) {
  text_ = buffer.text();
  buffer_ = buffer.take();
}

void Source::inflate(const ReadOptions& options) {
  const std::string_view packed = text_;
  Growing buffer(file_, options);
  // The last four bytes say the size modulo 2^32. A wrong guess costs address space only.
  if (packed.size() >= 18) {
    std::int64_t size = 0;
    for (std::size_t k = 1; k <= 4; ++k) size = size << 8 | std::uint8_t(packed[packed.size() - k]);
    buffer.reserve(std::min(size, most_text(packed)) + (1 << 17));
  }
  Inflater inflater(packed, file_);
  while (!inflater.at_end()) {
    buffer.grow();
    buffer.add(inflater.read(buffer.end(), std::min<std::int64_t>(buffer.room(), 1 << 22)));
    if (options.progress)  // parsing counts as the other half
      options.progress(inflater.taken(), 2 * std::int64_t(packed.size()));
  }
  if (!mapped_.empty()) done_with(mapped_.data(), mapped_.data() + mapped_.size());
  keep(buffer);
}

void Source::done_with(const char* first, const char* last) const {
  if (mapped_.empty()) return;
  const std::uintptr_t page = std::uintptr_t(::sysconf(_SC_PAGESIZE));
  const auto from = (std::uintptr_t(first) + page - 1) / page * page, to = std::uintptr_t(last) / page * page;
  if (from < to && first >= mapped_.data() && last <= mapped_.data() + mapped_.size())
    ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

void Source::check_unchanged() const {
  struct stat status {};
  if (mapped_.empty() || ::fstat(descriptor_, &status) != 0) return;
  if (status.st_size != file_bytes_ || changed_ns(status) != changed_ns_)
    throw InputError(file_ + ": found a file that was changed while it was read, expected one that holds still\n" +
                     "  read it again when whoever writes it is done");
}

}  // namespace seidel::mm
