// The entries `ilut` and `ict`: incomplete factors with two thresholds.
#include <seidel/solvers/preconditioners/threshold.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <seidel/kernels/spgemm/host_rows.hpp>

namespace seidel {

namespace {

struct Entry {
  Index col;
  double value;
};
using Entries = std::vector<Entry>;

/// Leaves the `count` largest, columns ascending.
void keep_largest(Entries& row, std::int64_t count) {
  if (std::int64_t(row.size()) > count) {
    std::nth_element(row.begin(), row.begin() + count, row.end(), [](const Entry& a, const Entry& b) {
      const double x = std::abs(a.value), y = std::abs(b.value);
      return x != y ? x > y : a.col < b.col;
    });
    row.resize(std::size_t(count));
  }
  std::sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) { return a.col < b.col; });
}

/// A row while it is eliminated: its values, and the columns that have one.
class WorkingRow {
 public:
  explicit WorkingRow(Index n) : value_(std::size_t(n)), stamp_(std::size_t(n), 0), before_(n) {}

  void start(Index row) {
    row_ = row;
    now_ = of_A_ = 2 * std::uint32_t(row) + 1;
    behind_.clear();
  }
  /// What comes to be from here on is fill.
  void fill() { now_ = of_A_ + 1; }
  bool has(Index col) const { return stamp_[col] >= of_A_; }
  bool is_fill(Index col) const { return stamp_[col] > of_A_; }

  double& operator[](Index col) {
    if (!has(col)) {
      stamp_[col] = now_;
      value_[col] = 0;
      if (col < row_)
        before_.insert(std::uint32_t(col) / 64, std::uint64_t(1) << col % 64);
      else if (col > row_)
        behind_.push_back(col);
    }
    return value_[col];
  }
  /// The next column before the diagonal, ascending; none.
  std::optional<Index> next() { return before_.take_least(); }
  const std::vector<Index>& behind() const { return behind_; }  ///< columns behind the diagonal, in any order

 private:
  Index row_ = 0;
  std::uint32_t of_A_ = 0, now_ = 0;
  std::vector<double> value_;
  std::vector<std::uint32_t> stamp_;  // 2 row + 1: of a row of A, 2 row + 2: fill of it
  std::vector<Index> behind_;
  spgemm_detail::ColumnSet before_;  // with a heap, ict takes 4.5 times as long where rows fill up
};

/// Subtracts multiples of rows of U from a row. Where all fill that these can make is too small to be kept, they change the
/// entries of A alone, and none else is computed: else a hub that comes first, whose row of U has an entry in each column,
/// takes the square of its length.
class Elimination {
 public:
  Elimination(WorkingRow& w, const std::vector<Entries>& upper) : w_(w), upper_(upper) {}

  /// `pattern`: columns of A, ascending. Fill below `least` is dropped.
  void start(HostSpan<const Index> pattern, double least) {
    pattern_ = pattern;
    least_ = least;
    most_fill_ = 0;
    left_out_.clear();
    leaves_out_ = true;
  }
  /// `largest`: of the entries of that row of U.
  void subtract(double multiple, Index above, double largest) {
    if (leaves_out_) {
      most_fill_ += std::abs(multiple) * largest;
      if (most_fill_ < least_ / 2) {  // whatever rounding does to the sums
        change_pattern(multiple, above);
        left_out_.push_back({above, multiple});
        return;
      }
      leaves_out_ = false;
      w_.fill();
      for (const Entry& before : left_out_)
        for (const Entry& u : upper_[before.col])
          if (u.col > above && (!w_.has(u.col) || w_.is_fill(u.col))) add(before.value, u);
    }
    for (const Entry& u : upper_[above]) add(multiple, u);
  }

 private:
  void add(double multiple, const Entry& u) {
    double& value = w_[u.col];
    value = std::fma(-multiple, u.value, value);
  }
  void change_pattern(double multiple, Index above) {
    const Entries& row = upper_[above];
    if (row.size() <= 16 * std::size_t(pattern_.size())) {
      for (const Entry& u : row)
        if (w_.has(u.col)) add(multiple, u);
      return;
    }
    for (const Index col : pattern_) {
      const auto u = std::lower_bound(row.begin(), row.end(), col, [](const Entry& e, Index c) { return e.col < c; });
      if (u != row.end() && u->col == col && w_.has(col)) add(multiple, *u);
    }
  }

  WorkingRow& w_;
  const std::vector<Entries>& upper_;
  HostSpan<const Index> pattern_;
  double least_ = 0, most_fill_ = 0;
  std::vector<Entry> left_out_;  // rows of U, and how often they were subtracted
  bool leaves_out_ = true;
};

template <class Offset>
Csr<double, Offset, Host> joined(const std::vector<Entries>& lower, const std::vector<double>& pivots,
                                 const std::vector<Entries>& upper) {
  const auto n = Index(pivots.size());
  Csr<double, Offset, Host> W{n, n, Array<Offset>(n + std::int64_t(1)), {}, {}};
  std::int64_t nnz = W.row_ptr[0] = 0;
  for (Index row = 0; row < n; ++row) {
    nnz += std::int64_t(lower[row].size() + 1 + upper[row].size());
    if (nnz > std::numeric_limits<Offset>::max())
      throw InputError("incomplete factorisation: the factors have too many entries\n  allow less fill");
    W.row_ptr[row + 1] = Offset(nnz);
  }
  W.take_entries(OpenMP{1}, nnz);
  std::int64_t k = 0;
  const auto put = [&](const Entry& entry) {
    W.col_idx[k] = entry.col;
    W.values[k++] = entry.value;
  };
  for (Index row = 0; row < n; ++row) {
    std::for_each(lower[row].begin(), lower[row].end(), put);
    put({row, pivots[row]});
    std::for_each(upper[row].begin(), upper[row].end(), put);
  }
  return W;
}

}  // namespace

template <class Offset>
std::optional<Csr<double, Offset, Host>> threshold_factors(const CsrView<double, Offset, Host>& A, Factors what,
                                                           const ThresholdOptions& options, double shift) {
  std::vector<Entries> lower(A.nrows), upper(A.nrows);  // LD and U; U = (LD)' as far as it is found, for Cholesky
  std::vector<double> pivots(A.nrows);
  std::vector<double> largest(A.nrows, 0);  // of each row of U
  WorkingRow w(A.nrows);
  Elimination elimination(w, upper);
  for (Index row = 0; row < A.nrows; ++row) {
    if (row % 64 == 0) options.on_step();
    w.start(row);
    double squares = 0, diagonal = 0;
    std::int64_t max_lower = options.fill, max_upper = options.fill;
    for (Offset k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k) {
      const Index col = A.col_idx[k];
      const double value = A.values[k];
      squares = std::fma(value, value, squares);
      if (col == row) diagonal = value;
      if (col > row && what == Factors::cholesky) continue;
      w[col] = col == row ? value * (1 + shift) : value;
      max_lower += col < row;
      max_upper += col > row;
    }
    const double least = options.drop * std::sqrt(squares);
    elimination.start(A.col_idx.subspan(A.row_ptr[row], A.row_ptr[row + 1] - A.row_ptr[row]), least);
    while (const auto above = w.next()) {
      const double ld = w[*above];
      if (std::abs(ld) < least) continue;
      const double multiple = ld / pivots[*above];
      if (!std::isfinite(multiple)) return {};
      elimination.subtract(multiple, *above, largest[*above]);
      if (what == Factors::cholesky) w[row] = std::fma(-multiple, ld, w[row]);
      lower[row].push_back({*above, ld});
    }
    keep_largest(lower[row], max_lower);
    for (const Index col : w.behind()) {
      if (!std::isfinite(w[col])) return {};
      if (std::abs(w[col]) >= least && w[col] != 0) upper[row].push_back({col, w[col]});
    }
    keep_largest(upper[row], max_upper);
    for (const Entry& u : upper[row]) largest[row] = std::max(largest[row], std::abs(u.value));
    if (what == Factors::cholesky)
      for (const Entry& ld : lower[row]) {
        upper[ld.col].push_back({row, ld.value});
        largest[ld.col] = std::max(largest[ld.col], std::abs(ld.value));
      }
    pivots[row] = w[row];
    if (!usable_pivot(pivots[row], diagonal) || (what == Factors::cholesky && !(pivots[row] > 0))) return {};
  }
  return joined<Offset>(lower, pivots, upper);
}

template std::optional<Csr<double, std::int32_t, Host>> threshold_factors(const CsrView<double, std::int32_t, Host>&,
                                                                          Factors, const ThresholdOptions&, double);
template std::optional<Csr<double, std::int64_t, Host>> threshold_factors(const CsrView<double, std::int64_t, Host>&,
                                                                          Factors, const ThresholdOptions&, double);

namespace {

constexpr Setting fill_of(std::string_view key, std::string_view help) {
  return {.key = key, .help = help, .usual = 10, .min = 0, .max = 10000, .whole = true};
}
constexpr Setting drop_of(std::string_view key, std::string_view help) {
  return {.key = key, .help = help, .usual = 1e-3, .min = 0, .max = 1};
}
constexpr Setting lu_settings[] = {
    fill_of("ilut.fill", "ilut.fill=N entries that a row of each factor may have more than A has there (10)"),
    drop_of("ilut.drop",
            "ilut.drop=T entries below T times the norm of their row of A are left out, 0 < T < 1 (1e-3)")};
constexpr Setting cholesky_settings[] = {fill_of("ict.fill", "ict.fill=N  as ilut.fill, of ict (10)"),
                                         drop_of("ict.drop", "ict.drop=T  as ilut.drop, of ict (1e-3)")};

/// Settings of both kinds, in one order.
std::span<const Setting> settings_of(Factors what) {
  return what == Factors::lu ? std::span<const Setting>(lu_settings) : cholesky_settings;
}

template <Factors what>
constexpr auto prepared = []<Backend B, class Offset>(const B& on, const HereAndThere<B, Offset>& A,
                                                      const MethodChoice& choice) {
  const auto settings = settings_of(what);
  return made_of<B>(ThresholdPreconditioner<Offset, B>(
      on, A, what,
      {.fill = Index(choice.settings[settings[0]]), .drop = choice.settings[settings[1]], .on_step = choice.on_step}));
};

/// With all the fill that is allowed; dropped entries make it less.
template <Factors what>
std::vector<MemoryPart> threshold_memory(const SystemSize& A, const MethodChoice& choice) {
  SystemSize filled = A;
  filled.nnz += 2 * std::int64_t(choice.settings[settings_of(what)[0]]) * A.nrows;
  MemoryPart sweeps = sweep_memory(filled, 8);
  sweeps.what = "the factors and their sweeps";
  sweeps.bytes += 12 * filled.nnz + A.bytes_per_offset * (A.nrows + 1);
  sweeps.min_bytes = 8 * A.nrows;
  return {sweeps};
}

}  // namespace

constinit const PreconditionerKind PreconditionerKind::ilut = {
    .name = "ilut",
    .help = "incomplete LU factors that keep what is large: fewer iterations than ilu0, more memory",
    .needs_diagonal = true,
    .keeps_symmetry = false,
    .sweeps = true,
    .settings = lu_settings,
    .memory = threshold_memory<Factors::lu>,
    .make = preconditioners_detail::makes(prepared<Factors::lu>)};

constinit const PreconditionerKind PreconditionerKind::ict = {
    .name = "ict",
    .help = "incomplete Cholesky factors that keep what is large, of a symmetric A",
    .needs_diagonal = true,
    .needs_definite = true,
    .sweeps = true,
    .settings = cholesky_settings,
    .memory = threshold_memory<Factors::cholesky>,
    .make = preconditioners_detail::makes(prepared<Factors::cholesky>)};

}  // namespace seidel
