// Sparse products on the host. A row of few entries is found as it is summed: each column remembers its place, and the entries
// are put in order at the end. The pattern of others is found in a set of bits, which is small beside a row of values and
// gives the columns in order; then the sums are taken where they belong.
#include <bit>
#include <cmath>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/spgemm/host_values.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel::spgemm_detail {

namespace {

constexpr int word_bits = 64;
std::int64_t words_for(std::int64_t n) { return (n + word_bits - 1) / word_bits; }

/// The columns of a row, put in in any order and taken out in ascending order. A tree: a bit of a level tells that the
/// word of the level below it is not empty, so that the words in between need not be visited.
class ColumnSet {
 public:
  explicit ColumnSet(Index ncols) {
    std::int64_t n = ncols;
    for (auto& level : levels_) level = Array<std::uint64_t>(n = words_for(n), 0);
  }
  /// Those of the columns 64 place ... 64 place + 63 that have a bit.
  void insert(std::uint32_t place, std::uint64_t bits) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[place];
      const bool was_empty = word == 0;
      word |= bits;
      if (!was_empty) return;
      bits = std::uint64_t(1) << place % word_bits;
      place /= word_bits;
    }
  }
  /// Calls visit(column) for each, ascending; the set is empty then.
  void drain(const auto& visit) {
    for (std::int64_t at = 0; at < levels_[nlevels - 1].size(); ++at) drain_word<nlevels - 1>(at, visit);
  }

 private:
  static constexpr int nlevels = 4;  // at most 128 words on the last one
  template <int level, class Visit>
  void drain_word(std::int64_t at, const Visit& visit) {
    for (std::uint64_t word = std::exchange(levels_[level][at], 0); word; word &= word - 1) {
      const std::int64_t place = at * word_bits + std::countr_zero(word);
      if constexpr (level == 0)
        visit(Index(place));
      else
        drain_word<level - 1>(place, visit);
    }
  }

  Array<std::uint64_t> levels_[nlevels];
};

/// Entries of rows, one after another.
template <class Real>
struct Entries {
  Array<Index> columns;
  Array<Real> values;
  std::int64_t size = 0;

  /// `done`: the part of the rows, by their products, that is there. To guess from it what all will take spares copies, and pages
  /// that are touched for nothing.
  [[gnu::noinline]] void make_room(std::int64_t more, double done) {
    if (size + more <= columns.size()) return;
    const std::int64_t guess = done > 0 ? std::int64_t(1.05 * double(size) / done) : 0;
    const std::int64_t room = size + std::max({more, guess - size, size / 8, std::int64_t(1) << 14});
    const auto grow = [&](auto& array) {
      std::remove_reference_t<decltype(array)> larger(room);
      std::copy(array.begin(), array.begin() + size, larger.begin());
      array = std::move(larger);
    };
    grow(columns);
    grow(values);
  }
};

/// Calls body(part) for each part of the plan, every part on the same thread each time.
void for_parts(const OpenMP& on, const Plan<Host>& plan, const auto& body) {
  const int n = int(plan.first_row.size()) - 1;
  parallel_parts(OpenMP{std::min(on.threads, n)}, [&](int thread, int nthreads) {
    for (int part = thread; part < n; part += nthreads) body(part);
  });
}

/// A row whose entries are few, in the order in which their columns are met. `place_of` may hold any places.
template <class Real>
struct ShortRow {
  static constexpr std::int64_t max_products = 1024;
  static constexpr Index max_entries = 64;
  Index n;
  Index columns[max_products + 1];
  Real sums[max_products + 1];

  /// Whether it is one.
  template <class Offset>
  bool add_products(const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B, std::int64_t row,
                    Index* place_of) {
    n = 0;
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const std::int64_t k = A.col_idx[e];
      const Real a = A.values[e];
      for (Offset f = B.row_ptr[k]; f < B.row_ptr[k + 1]; ++f) {
        const Index column = B.col_idx[f], met = place_of[column];
        const bool known = met < n && columns[met] == column;
        const Index place = known ? met : n;
        place_of[column] = place;
        columns[place] = column;
        sums[place] = std::fma(a, B.values[f], known ? sums[place] : 0);
        n += !known;
      }
      if (n > max_entries) return false;
    }
    return true;
  }
  /// By the number of smaller columns: no branch depends on them.
  void ascending(Index* to_columns, Real* to_values) const {
    for (Index i = 0; i < n; ++i) {
      Index smaller = 0;
      for (Index j = 0; j < n; ++j) smaller += columns[j] < columns[i];
      to_columns[smaller] = columns[i];
      to_values[smaller] = sums[i];
    }
  }
};

template <class Real, class Offset>
struct Pattern {
  const CsrView<Real, Offset, Host>&A, &B;

  void insert_row(std::int64_t row, ColumnSet& columns) const {
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const Index k = A.col_idx[e];
      const Offset end = B.row_ptr[k + std::int64_t(1)];
      for (Offset f = B.row_ptr[k]; f < end;) {  // neighbours go in together: a third faster on lattices
        const auto word = std::uint32_t(B.col_idx[f]) / word_bits;
        std::uint64_t bits = 0;
        do bits |= std::uint64_t(1) << std::uint32_t(B.col_idx[f]) % word_bits;
        while (++f < end && std::uint32_t(B.col_idx[f]) / word_bits == word);
        columns.insert(word, bits);
      }
    }
  }
  /// Terms of the sums of this row.
  std::int64_t products(std::int64_t row) const {
    std::int64_t sum = 0;
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const Index k = A.col_idx[e];
      sum += B.row_ptr[k + std::int64_t(1)] - B.row_ptr[k];
    }
    return sum;
  }
};

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

/// Finds C, whose memory is taken here.
template <class Real, class Offset>
Plan<Host> find_product(const OpenMP& on, const CsrView<Real, Offset, Host>& A, const CsrView<Real, Offset, Host>& B,
                        Csr<Real, Offset, Host>& C) {
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
  for (int part = 0; part < nparts; ++part)
    plan.first_row.push_back(share_by_nonzeros(std::as_const(work).span(), part, nparts).first);
  plan.first_row.push_back(nrows);
  if (plan.products > std::numeric_limits<Offset>::max()) {
    count_entries(on, plan, of, work);
    offsets_from_lengths(on, work);
    require_countable<Offset>(work[nrows]);
  }

  C = {A.nrows, B.ncols, Array<Offset>(nrows + 1), {}, {}};
  std::vector<Entries<Real>> found(plan.first_row.size() - 1);
  for_parts(on, plan, [&](int part) {
    ColumnSet columns(B.ncols);
    Entries<Real>& mine = found[std::size_t(part)];
    Array<Index> places(B.ncols, 0);
    Index* const place_of = places.data();
    ShortRow<Real> few;
    const std::int64_t first = plan.first_row[part], last = plan.first_row[part + 1];
    const double all = double(work[last] - work[first]);
    with_avx2([&] {
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t products = of.products(row);
        mine.make_room(std::min<std::int64_t>(products, B.ncols), double(work[row] - work[first]) / all);
        Index* const to = mine.columns.data() + mine.size;
        Real* const sums = mine.values.data() + mine.size;
        Index n = 0;
        if (products <= few.max_products && few.add_products(A, B, row, place_of)) {
          few.ascending(to, sums);
          n = few.n;
        } else {
          of.insert_row(row, columns);
          columns.drain([&](Index column) { to[n++] = column; });
          add_products(A, B, row, to, n, place_of, sums);
        }
        C.row_ptr[row + 1] = n;
        mine.size += n;
      }
    });
  });
  offsets_from_lengths(on, C.row_ptr);
  C.take_entries(on, C.row_ptr[nrows]);
  for_parts(on, plan, [&](int part) {  // first touched by those who will use it
    const Entries<Real> mine = std::move(found[std::size_t(part)]);
    const Offset first = C.row_ptr[plan.first_row[part]];
    std::copy(mine.columns.begin(), mine.columns.begin() + mine.size, C.col_idx.data() + first);
    std::copy(mine.values.begin(), mine.values.begin() + mine.size, C.values.data() + first);
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
