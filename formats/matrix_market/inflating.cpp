// Gzip files in order: one thread inflates blocks of whole lines while the others put their entries in place.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

/// Small enough to stay in the cache between inflating and parsing.
constexpr std::int64_t max_block_bytes = 1 << 18;

/// Whole lines.
struct Block {
  Array<char> room;
  std::int64_t size = 0;
  const char* first = nullptr;  // the first line below the header
  std::size_t number = 0;

  const char* end() const { return room.data() + size; }
};

/// Inflates block after block.
class Lines {
 public:
  Lines(const Source& source, std::int64_t block_bytes)
      : source_(source), inflater_(source.text(), source.file()), rest_(block_bytes) {}

  /// The next lines; false if there are none, or a line is longer than a block.
  bool next(Block& block) {
    if (inflater_.at_end()) return false;
    const std::int64_t before = inflater_.taken();
    std::memcpy(block.room.data(), rest_.data(), std::size_t(rest_size_));
    // One byte is left for the last line end, which the text may lack.
    const std::int64_t read = inflater_.read(block.room.data() + rest_size_, rest_.size() - rest_size_ - 1);
    text_bytes_ += read;
    block.size = rest_size_ + read;
    block.first = block.room.data();
    rest_size_ = 0;
    source_.done_with(source_.text().data() + before, source_.text().data() + inflater_.taken());
    if (inflater_.at_end()) {
      if (block.size > 0 && block.end()[-1] != '\n') block.room[block.size++] = '\n';
      return block.size > 0;
    }
    const void* last = ::memrchr(block.room.data(), '\n', std::size_t(block.size));
    if (!last) return false;
    const std::int64_t whole = static_cast<const char*>(last) + 1 - block.room.data();
    rest_size_ = block.size - whole;
    std::memcpy(rest_.data(), block.room.data() + whole, std::size_t(rest_size_));
    block.size = whole;
    return true;
  }
  bool at_end() const { return inflater_.at_end(); }
  std::int64_t taken() const { return inflater_.taken(); }
  std::int64_t text_bytes() const { return text_bytes_; }

 private:
  const Source& source_;
  Inflater inflater_;
  Array<char> rest_;  // the beginning of a line
  std::int64_t rest_size_ = 0, text_bytes_ = 0;
};

/// Inflated blocks, passed from the thread that makes them to those that place their entries.
class Pipeline {
 public:
  /// The first of the blocks is full.
  Pipeline(const Reading& reading, Lines& lines, std::vector<Block>& blocks, InOrder& in_order)
      : reading_(reading), lines_(lines), in_order_(in_order) {
    full_.reserve(blocks.size());
    empty_.reserve(blocks.size());
    for (Block& block : blocks) empty_.push_back(&block);
    empty_.erase(empty_.begin());
    push(blocks.front());
  }

  /// False if an entry is not in place.
  bool run() {
    parallel_parts(reading_.on(), [&](int part, int) {
      if (part == 0) inflate();
      while (Block* const block = next_full()) place(*block, part);
    });
    in_order_.join(stretches_);
    return lines_.at_end() && numbered_ == reading_.header.entries && in_order_.good() && in_order_.rows_ascend();
  }

 private:
  void inflate() try {
    const std::int64_t packed = std::int64_t(reading_.source.text().size());
    while (numbered_ <= reading_.header.entries && in_order_.good() && in_order_.rows_ascend()) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !empty_.empty() || !full_.empty(); });
      const bool room = !empty_.empty();
      Block& block = pop(room ? empty_ : full_);
      lock.unlock();
      if (!room) {  // all other threads are busy
        place(block, 0);
        continue;
      }
      if (!lines_.next(block)) break;
      lock.lock();
      push(block);
      lock.unlock();
      changed_.notify_all();
      if (reading_.options.progress) reading_.options.progress(lines_.taken(), packed);
    }
    close();
  } catch (...) {
    close();
    throw;
  }

  void push(Block& block) {
    const std::int64_t first = numbered_;
    numbered_ += count_entries(block.first, block.end(), block.end());
    if (numbered_ > reading_.header.entries) return;  // more than there is room for
    block.number = stretches_.size();
    stretches_.push_back({first, numbered_});
    full_.push_back(&block);
  }

  void place(Block& block, int part) {
    std::unique_lock lock(mutex_);
    Stretch stretch = stretches_[block.number];
    lock.unlock();
    in_order_.place(Fence(block.first, block.end()), block.first, block.end(), stretch, part);
    lock.lock();
    stretches_[block.number] = stretch;
    empty_.push_back(&block);
    lock.unlock();
    changed_.notify_all();
  }

  Block* next_full() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || closed_; });
    return full_.empty() ? nullptr : &pop(full_);
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  static Block& pop(std::vector<Block*>& blocks) {
    Block& block = *blocks.back();
    blocks.pop_back();
    return block;
  }

  const Reading& reading_;
  Lines& lines_;
  InOrder& in_order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Block*> empty_, full_;  // guarded by the mutex, like all members below
  std::vector<Stretch> stretches_;
  std::int64_t numbered_ = 0;  // entries
  bool closed_ = false;        // no more blocks will be filled
};

/// Reads the file if its entries have the n-th of the possible orders.
std::optional<MatrixFile> read_inflating(const Source& source, const ReadOptions& options, std::size_t n) {
  const std::int64_t block_bytes = std::clamp<std::int64_t>(options.chunk_bytes, 256, max_block_bytes);
  Lines lines(source, block_bytes);
  std::vector<Block> blocks(std::size_t(2 * std::max(1, options.threads) - 1));
  for (Block& block : blocks) block.room = Array<char>(block_bytes);
  Block& first = blocks.front();
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
  const bool whole = Pipeline(reading, lines, blocks, in_order).run();
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
