// Gzip files in order: one thread at a time inflates a block of whole lines, while the others put the entries of theirs in place.
#include <algorithm>
#include <cstring>
#include <mutex>

#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

/// Small enough to stay in the cache between inflating and parsing, and to take longer than a thread takes to wake up.
constexpr std::int64_t max_block_bytes = 1 << 19;

/// Whole lines.
struct Block {
  Array<char> room;
  std::int64_t size = 0;
  const char* first = nullptr;  // the first line below the header

  const char* end() const { return room.data() + size; }
};

/// Inflates block after block.
class Lines {
 public:
  Lines(const Source& source, std::int64_t block_bytes)
      : source_(source), block_bytes_(block_bytes), inflater_(source.text(), source.file()) {}

  Block empty_block() const { return {Array<char>(block_bytes_)}; }
  /// The next lines; false if there are none, or a line is longer than a block.
  bool next(Block& block) {
    if (inflater_.at_end()) return false;
    const std::int64_t before = inflater_.taken(), rest = std::int64_t(rest_.size());
    std::copy(rest_.begin(), rest_.end(), block.room.begin());
    // One byte is left for the last line end, which the text may lack.
    const std::int64_t read = inflater_.read(block.room.data() + rest, block_bytes_ - rest - 1);
    text_bytes_ += read;
    block.size = rest + read;
    block.first = block.room.data();
    source_.done_with(source_.text().data() + before, source_.text().data() + inflater_.taken());
    if (inflater_.at_end()) {
      if (block.size > 0 && block.end()[-1] != '\n') block.room[block.size++] = '\n';
      return block.size > 0;
    }
    const void* last = ::memrchr(block.room.data(), '\n', std::size_t(block.size));
    if (!last) return false;
    const char* const end = static_cast<const char*>(last) + 1;
    rest_.assign(end, block.end());
    block.size = end - block.first;
    return true;
  }
  bool at_end() const { return inflater_.at_end(); }
  std::int64_t taken() const { return inflater_.taken(); }
  std::int64_t text_bytes() const { return text_bytes_; }

 private:
  const Source& source_;
  const std::int64_t block_bytes_;
  Inflater inflater_;
  std::string rest_;  // the beginning of a line
  std::int64_t text_bytes_ = 0;
};

/// Puts the entries of `first`, then of all other lines in place; false if one is not. Each thread takes a block when it is done
/// with the one before, and parses what its own cache holds.
bool place_all(const Reading& reading, Lines& lines, Block& first, InOrder& in_order) {
  std::deque<Stretch> stretches;
  std::mutex taking;         // guards `lines` and all but elements of `stretches`
  std::mutex first_in_line;  // who does not sleep: nobody would inflate while it wakes up
  std::int64_t entries = 0;
  bool more = true;
  std::atomic<std::int64_t> taken = 0;  // packed bytes, for the progress report
  const auto next = [&](Block& block) -> Stretch* {
    std::unique_lock waiting(first_in_line);
    while (!taking.try_lock()) std::this_thread::yield();
    waiting.unlock();
    const std::lock_guard lock(taking, std::adopt_lock);
    if (!std::exchange(more, false) || !in_order.good() || !in_order.rows_ascend()) return nullptr;
    if (stretches.empty())
      std::swap(block, first);
    else if (!lines.next(block))
      return nullptr;
    const std::int64_t before = entries;
    entries += count_entries(block.first, block.end(), block.end());
    if (entries > reading.header.entries) return nullptr;  // more than there is room for
    more = true;
    taken = lines.taken();
    return &stretches.emplace_back(Stretch{before, entries});
  };
  parallel_parts(reading.on(), [&](int part, int) {
    Block block = lines.empty_block();
    while (Stretch* const stretch = next(block)) {
      in_order.place(Fence(block.first, block.end()), block.first, block.end(), *stretch, part);
      if (part == 0 && reading.options.progress)
        reading.options.progress(taken, std::int64_t(reading.source.text().size()));
    }
  });
  in_order.join(stretches);
  return lines.at_end() && entries == reading.header.entries && in_order.good() && in_order.rows_ascend();
}

/// Reads the file if its entries have the n-th of the possible orders.
std::optional<MatrixFile> read_inflating(const Source& source, const ReadOptions& options, std::size_t n) {
  Lines lines(source, std::clamp<std::int64_t>(options.chunk_bytes, 256, max_block_bytes));
  Block first = lines.empty_block();
  if (!lines.next(first)) return {};
  const Source head({first.room.data(), std::size_t(first.size)}, source.file());
  const Header header = parse_header(head, most_text(source.text()));
  if (header.layout != FileLayout::coordinate) return {};
  const std::vector<Order> orders = orders_of(header, header.body, first.end());
  if (n >= orders.size()) return {};
  first.first = header.body;

  MatrixFile file;
  file.report = report_of(source, header, options);
  const Reading reading{source, header, options, file.report};
  file.matrix = room_in_order(reading);
  InOrder in_order(header, orders[n], file.matrix, reading.on().threads);
  const bool whole = place_all(reading, lines, first, in_order);
  // The place of the first value that is not finite can be named only if the text is kept.
  if (!whole || in_order.values().nonfinite > 0 || !finish_in_order(reading, in_order, file.matrix)) return {};
  file.report.text_bytes = lines.text_bytes();
  return file;
}

}  // namespace

std::optional<MatrixFile> read_inflating(const Source& source, const ReadOptions& options) try {
  auto file = read_inflating(source, options, 0);
  return file ? std::move(file) : read_inflating(source, options, 1);
} catch (const Error&) {
  return {};
}

}  // namespace seidel::mm
