// Sparse products on the host: rows of C are found in blocks, by whichever thread is free, and go straight to their places.
#include <atomic>
#include <memory>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/spgemm/host_rows.hpp>
#include <seidel/kernels/spgemm/host_values.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel::spgemm_detail {

namespace {

/// Calls body(part) for each part of the plan, every part on the same thread each time.
void for_parts(const OpenMP& on, const Plan<Host>& plan, const auto& body) {
  const int n = int(plan.first_row.size()) - 1;
  parallel_parts(OpenMP{std::min(on.threads, n)}, [&](int thread, int nthreads) {
    for (int part = thread; part < n; part += nthreads) body(part);
  });
}

/// lengths[row + 1] = entries of C's row, which takes no memory for them.
template <class Real, class Offset>
void count_entries(const OpenMP& on, const Plan<Host>& plan, const Pattern<Real, Offset>& of,
                   Array<std::int64_t>& lengths) {
  for_parts(on, plan, [&](int part) {
    ColumnSet columns(of.B.ncols);
    with_avx2([&] {
      for (std::int64_t row = plan.first_row[part]; row < plan.first_row[part + 1]; ++row) {
        std::int64_t n = 0;
        if (of.A.row_ptr[row + 1] - of.A.row_ptr[row] <= 1) {
          n = of.products(row);
        } else {
          of.insert_row(row, columns);
          columns.drain([&](Index) { ++n; });
        }
        lengths[row + 1] = n;
      }
    });
  });
}

/// Where the entries of each block of rows begin in C: known as soon as those of all blocks before it are counted. Any thread
/// may count a block at any time, and none waits for another.
class Places {
 public:
  static constexpr std::int64_t unknown = -1;

  explicit Places(std::int64_t nblocks) : entries_(std::size_t(nblocks)), first_(std::size_t(nblocks) + 1) {
    for (auto& entries : entries_) entries = unknown;
    for (auto& first : first_) first = unknown;
    first_[0] = 0;
  }
  void count(std::int64_t block, std::int64_t entries) {
    entries_[std::size_t(block)] = entries;
    for (auto b = std::size_t(block); b < entries_.size(); ++b) {  // and the blocks behind it that waited for this one
      const std::int64_t first = first_[b], n = entries_[b];
      if (first == unknown || n == unknown) return;
      first_[b + 1] = first + n;
    }
  }
  std::int64_t first(std::int64_t block) const { return first_[std::size_t(block)]; }
  std::int64_t all() const { return first_.back(); }

 private:
  std::vector<std::atomic<std::int64_t>> entries_, first_;
};

/// Blocks of rows that one thread has found and that are on their way to C: few, so that they stay in its cache, unless another
/// thread is held up.
template <class Real, class Offset>
class BlockFinder {
 public:
  explicit BlockFinder(const Pattern<Real, Offset>& of) : of_(of), rows_(of) {}

  /// Finds a block of rows, and how many entries each has: row_ptr[row + 1]. Returns the number of all.
  std::int64_t find(std::int64_t block, Range rows, Offset* row_ptr) {
    const std::int64_t before = size_;
    with_avx2([&] {
      for (std::int64_t row = rows.first; row < rows.last; ++row) {
        const std::int64_t products = of_.products(row);
        make_room(std::min<std::int64_t>(products, of_.B.ncols));
        const Index n = rows_.find(row, products, columns_.data() + size_, values_.data() + size_);
        row_ptr[row + 1] = n;
        size_ += n;
      }
    });
    blocks_.push_back({block, size_ - before});
    return size_ - before;
  }
  /// Takes the first of its blocks to C, as far as their places are known and C has room.
  void place(const Places& places, Csr<Real, Offset, Host>& C) {
    std::int64_t placed = 0;
    auto block = blocks_.begin();
    for (; block != blocks_.end(); ++block) {
      const std::int64_t to = places.first(block->number);
      if (to == Places::unknown || to + block->entries > C.col_idx.size()) break;
      std::copy_n(columns_.begin() + placed, block->entries, C.col_idx.begin() + to);
      std::copy_n(values_.begin() + placed, block->entries, C.values.begin() + to);
      placed += block->entries;
    }
    if (block == blocks_.begin()) return;
    blocks_.erase(blocks_.begin(), block);
    std::copy(columns_.begin() + placed, columns_.begin() + size_, columns_.begin());
    std::copy(values_.begin() + placed, values_.begin() + size_, values_.begin());
    size_ -= placed;
  }
  void forget() { blocks_.clear(), size_ = 0; }

 private:
  struct Block {
    std::int64_t number, entries;
  };

  [[gnu::noinline]] void grow(std::int64_t room) {
    const auto grow_one = [&](auto& array) {
      std::remove_reference_t<decltype(array)> larger(room);
      std::copy(array.begin(), array.begin() + size_, larger.begin());
      array = std::move(larger);
    };
    grow_one(columns_);
    grow_one(values_);
  }
  void make_room(std::int64_t more) {
    if (size_ + more > columns_.size()) grow(std::max(size_ + more, 2 * columns_.size()));
  }

  Pattern<Real, Offset> of_;
  RowFinder<Real, Offset> rows_;
  Array<Index> columns_;
  Array<Real> values_;
  std::int64_t size_ = 0;
  std::vector<Block> blocks_;
};

/// Finds C, whose memory is taken here: how much is guessed from some of the blocks. Where that is too little, or there are few
/// blocks, it is taken again when all are counted.
template <class Real, class Offset>
Plan<Host> find_product(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B,
                        Csr<Real, Offset, Host>& C) {
  constexpr std::int64_t work_per_block = 1 << 14, blocks_per_sample = 64;
  const std::int64_t nrows = A.nrows;
  const Pattern<Real, Offset> of{A, B};
  Plan<Host> plan;
  Array<std::int64_t> work(nrows + 1);
  for_row_shares(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) work[row + 1] = of.products(row);
  });
  offsets_from_lengths(on, work);
  plan.products = work[nrows];
  const int nparts = nrows + plan.products < 2 * worth_per_thread ? 1 : std::max(1, on.threads);
  const auto share = [&](std::int64_t i, std::int64_t n) {
    return share_by_nonzeros(std::as_const(work).span(), int(i), int(n));
  };
  for (int part = 0; part < nparts; ++part) plan.first_row.push_back(share(part, nparts).first);
  plan.first_row.push_back(nrows);

  C = {A.nrows, B.ncols, Array<Offset>(nrows + 1), {}, {}};
  const OpenMP threads{nparts};
  std::vector<std::unique_ptr<BlockFinder<Real, Offset>>> finders{std::size_t(nparts)};  // each made by its thread
  const auto finder = [&](int part) -> auto& {
    auto& mine = finders[std::size_t(part)];
    if (!mine) mine = std::make_unique<BlockFinder<Real, Offset>>(of);
    return *mine;
  };
  const std::int64_t nblocks = 1 + (nrows + plan.products) / work_per_block;
  std::int64_t room = 0;
  if (plan.products > std::numeric_limits<Offset>::max()) {
    Array<std::int64_t> lengths(nrows + 1);
    count_entries(on, plan, of, lengths);
    offsets_from_lengths(on, lengths);
    require_countable<Offset>(room = lengths[nrows]);
  } else if (nblocks >= blocks_per_sample) {
    std::atomic<std::int64_t> entries = 0, products = 1;
    for_each_in_turn(threads, nblocks / blocks_per_sample, [&](std::int64_t sample, int part) {
      const std::int64_t block = sample * blocks_per_sample + blocks_per_sample / 2;
      const Range rows = share(block, nblocks);
      entries += finder(part).find(block, rows, C.row_ptr.data());
      products += work[rows.last] - work[rows.first];
      finder(part).forget();
    });
    room = std::min(plan.products, std::int64_t(1.1 * double(entries) / double(products) * double(plan.products)));
  }
  C.take_entries(on, room);
  Places places(nblocks);
  for_each_in_turn(threads, nblocks, [&](std::int64_t block, int part) {
    places.count(block, finder(part).find(block, share(block, nblocks), C.row_ptr.data()));
    finder(part).place(places, C);
  });
  offsets_from_lengths(on, C.row_ptr);
  const std::int64_t all = places.all();
  if (all > room) {
    const Array<Index> columns = std::move(C.col_idx);
    const Array<Real> values = std::move(C.values);
    C.take_entries(on, all);
    copy_bytes(on, Host{}, C.col_idx.data(), Host{}, columns.data(), room * std::int64_t(sizeof(Index)));
    copy_bytes(on, Host{}, C.values.data(), Host{}, values.data(), room * std::int64_t(sizeof(Real)));
  }
  C.col_idx.truncate(all);
  C.values.truncate(all);
  for_each_in_turn(threads, nparts, [&](std::int64_t part, int) {
    if (auto& with_blocks_left = finders[std::size_t(part)]) with_blocks_left->place(places, C);
  });
  return plan;
}

}  // namespace

std::int64_t Plan<Host>::bytes() const {
  std::int64_t sum = std::int64_t(first_row.size() * sizeof(std::int64_t));
  for (const auto& of_part : bits) sum += of_part.size();
  for (const auto& of_part : place_of) sum += of_part.size() * std::int64_t(sizeof(Index));
  return sum;
}

template <class Real, class Offset>
void find_values(const OpenMP& on, Plan<Host>& plan, const CsrView<Real, Offset, Host>& A,
                 const CsrView<Real, Offset, Host>& B, Csr<Real, Offset, Host>& C) {
  for_parts(on, plan, [&](int part) { values_of_part(plan, part, A, B, C); });
}

template <class Real, class Offset>
Plan<Host> multiply(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B,
                    Csr<Real, Offset, Host>& C, Wanted wanted) {
  Plan<Host> plan = find_product(on, A, B, C);
  if (wanted == Wanted::result_and_plan) {
    plan.bits.resize(plan.first_row.size() - 1);
    plan.place_of.resize(plan.first_row.size() - 1);
    for_parts(on, plan, [&](int part) { keep_bits(plan, part, A, B, C.view()); });
  }
  return plan;
}

void require_product(std::int64_t nrows_A, std::int64_t ncols_A, std::int64_t nrows_B, std::int64_t ncols_B) {
  if (ncols_A == nrows_B) return;
  const auto shape = [](std::int64_t m, std::int64_t n) { return std::to_string(m) + " x " + std::to_string(n); };
  throw ShapeError("spgemm: found A as " + shape(nrows_A, ncols_A) + " and B as " + shape(nrows_B, ncols_B) +
                   ", expected B with as many rows as A has columns");
}

void require_same_pattern(const char* name, const Extent& found, const Extent& expected) {
  if (found == expected) return;
  const auto text = [](const Extent& of) {
    return std::to_string(of.nrows) + " x " + std::to_string(of.ncols) + " with " + std::to_string(of.nnz) + " entries";
  };
  throw ShapeError(std::string("SparseProduct::update_values: found ") + name + " as " + text(found) +
                   ", expected the pattern that was analysed, " + text(expected) + "\n  make a new SparseProduct");
}

/// Never called: names both functions, so that their code is emitted here.
void instances(const OpenMP& on, Plan<Host>& plan) {
  with_each_csr<Host>([&]<class Real, class Offset>(const CsrView<Real, Offset, Host>& A, Real*) {
    Csr<Real, Offset> C;
    multiply(on, A, A, C, Wanted::result), find_values(on, plan, A, A, C);
  });
}

}  // namespace seidel::spgemm_detail
