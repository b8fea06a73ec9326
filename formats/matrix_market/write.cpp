// Writing matrices and vectors: all threads make text, block by block, which is written in order.
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include <seidel/formats/matrix_market/gzip.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/matrix_market/output_file.hpp>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

namespace {

using Matrix = CsrView<double, std::int64_t, Host>;

constexpr std::int64_t max_digits = 24;  // of a double: -2.2250738585072014e-308
constexpr std::int64_t longest_line = 2 * 11 + max_digits + 1;

char* put(char* p, std::int64_t v) { return std::to_chars(p, p + 20, v).ptr; }
char* put(char* p, double v) {
  if (std::isnan(v))
    v = std::copysign(std::numeric_limits<double>::quiet_NaN(), v);  // plain nan: text has no NaN payloads
  return std::to_chars(p, p + max_digits, v).ptr;
}

/// The text of a file, made block by block.
class Writer {
 public:
  Writer(const std::string& path, int threads)
      : file_(path), on_{std::max(1, threads)}, compress_(mm::names_gzip(path)) {}

  void write(std::string_view text) { file_.write(compress_ ? mm::gzip(text) : std::string(text)); }

  /// Blocks 0 ... nblocks - 1, of at most `most` bytes each; make(block, p) writes one at p and returns its end.
  void write_blocks(std::int64_t nblocks, std::int64_t most, const auto& make) {
    const std::int64_t wave = std::min<std::int64_t>(nblocks, 4 * on_.threads);
    Array<char> room(wave * most);
    std::vector<std::string_view> texts(wave, std::string_view{});
    std::vector<std::string> packed(wave, std::string{});
    for (std::int64_t first = 0; first < nblocks; first += wave) {
      const std::int64_t count = std::min(wave, nblocks - first);
      std::atomic<std::int64_t> next = 0;
      std::atomic<bool> out_of_memory = false;
      parallel_parts(OpenMP{int(std::min<std::int64_t>(on_.threads, count))}, [&](int, int) {
        for (std::int64_t k; (k = next.fetch_add(1)) < count;) {
          char* const p = room.data() + k * most;
          std::string_view& text = texts[std::size_t(k)];
          text = {p, std::size_t(make(first + k, p) - p)};
          if (!compress_ || text.empty()) continue;
          try {
            packed[std::size_t(k)] = mm::gzip(text);
            text = packed[std::size_t(k)];
          } catch (const std::bad_alloc&) {
            text = {};
          }
          if (text.empty()) out_of_memory = true;
        }
      });
      if (out_of_memory)
        throw ResourceError("out of memory: zlib could not compress a block of " + std::to_string(most) + " bytes");
      for (std::int64_t k = 0; k < count; ++k) file_.write(texts[std::size_t(k)]);
    }
  }

  void finish() { file_.finish(); }

 private:
  mm::OutputFile file_;
  OpenMP on_;
  bool compress_;
};

std::string banner(FileLayout layout, Symmetry symmetry, const std::string& comment) {
  std::string text =
      "%%MatrixMarket matrix " + std::string(name(layout)) + " real " + std::string(name(symmetry)) + "\n";
  for (std::size_t p = 0; p < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', p), comment.size());
    text += "% " + comment.substr(p, end - p) + "\n";
    p = end + 1;
  }
  return text;
}

/// The first entry of the row whose column is not below `column`, or the end of the row.
std::int64_t first_from(const Matrix& A, std::int64_t row, std::int64_t column) {
  const std::int64_t first = A.row_ptr[row];
  return first + count_below(A.col_idx.data() + first, A.row_ptr[row + 1] - first, column);
}

/// The first entry of row `row` that is written, as are all after it: for a triangle the one on or right of the diagonal.
/// By symmetry these form a column of the lower triangle, which is listed by columns, like most such files.
std::int64_t row_start(const Matrix& A, std::int64_t row, Symmetry symmetry) {
  if (symmetry == Symmetry::general) return A.row_ptr[row];
  return first_from(A, row, row + (symmetry == Symmetry::skew_symmetric));
}

/// Whether entry k of row `row` has the mirror image that the symmetry requires.
bool mirrored(const Matrix& A, std::int64_t row, std::int64_t k, Symmetry symmetry) {
  const Index col = A.col_idx[k];
  const bool skew = symmetry == Symmetry::skew_symmetric;
  if (col == row) return !skew || A.values[k] == 0;
  const std::int64_t at = first_from(A, col, row);
  if (at == A.row_ptr[col + std::int64_t(1)] || A.col_idx[at] != row) return false;
  const double a = A.values[k], b = A.values[at];
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(skew ? -b : b) ||
         (std::isnan(a) && std::isnan(b));
}

/// The first row with an entry that lacks its mirror image; nrows if there is none.
std::int64_t first_unmirrored_row(const OpenMP& on, const Matrix& A, Symmetry symmetry) {
  return first_row_where(on, A.row_ptr, [&](std::int64_t row) {
    for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      if (!mirrored(A, row, k, symmetry)) return true;
    return false;
  });
}

/// Errors  InputError naming the first entry without its mirror image.
void check_symmetry(const OpenMP& on, const Matrix& A, Symmetry symmetry) {
  if (symmetry == Symmetry::general) return;
  const std::string word(name(symmetry));
  if (A.nrows != A.ncols)
    throw InputError("found a matrix of " + std::to_string(A.nrows) + " x " + std::to_string(A.ncols) +
                     ", expected a square one to write as " + word + "\n  write it as general");
  const std::int64_t row = first_unmirrored_row(on, A, symmetry);
  if (row == A.nrows) return;
  std::int64_t k = A.row_ptr[row];
  while (mirrored(A, row, k, symmetry)) ++k;
  throw InputError("row " + std::to_string(row + 1) + ": found an entry in column " + std::to_string(A.col_idx[k] + 1) +
                   " without its mirror image, expected a " + word + " matrix\n  write it as general");
}

}  // namespace

Symmetry exact_symmetry(const Matrix& A, int threads) {
  if (A.nrows != A.ncols || A.nnz() == 0) return Symmetry::general;
  const OpenMP on{std::max(1, threads)};
  const auto has = [&](Symmetry symmetry) { return first_unmirrored_row(on, A, symmetry) == A.nrows; };
  if (has(Symmetry::symmetric)) return Symmetry::symmetric;
  if (!has(Symmetry::skew_symmetric)) return Symmetry::general;
  for (std::int64_t row = 0; row < A.nrows; ++row)  // a zero on the diagonal, which no skew-symmetric file can list
    if (first_from(A, row, row) < first_from(A, row, row + 1)) return Symmetry::general;
  return Symmetry::skew_symmetric;
}

void write_matrix_market(const std::string& path, const Matrix& A, const WriteOptions& options) {
  const OpenMP on{std::max(1, options.threads)};
  check_symmetry(on, A, options.symmetry);
  Writer writer(path, options.threads);
  const bool triangle = options.symmetry != Symmetry::general, skew = options.symmetry == Symmetry::skew_symmetric;
  std::int64_t entries = 0;
  for (std::int64_t row = 0; row < A.nrows; ++row) entries += A.row_ptr[row + 1] - row_start(A, row, options.symmetry);
  writer.write(banner(FileLayout::coordinate, options.symmetry, options.comment) + std::to_string(A.nrows) + " " +
               std::to_string(A.ncols) + " " + std::to_string(entries) + "\n");
  constexpr std::int64_t block = 1 << 15;  // entries
  writer.write_blocks((A.nnz() + block - 1) / block, block * longest_line, [&](std::int64_t b, char* p) {
    const std::int64_t first = b * block, last = std::min(first + block, A.nnz());
    std::int64_t row = std::upper_bound(A.row_ptr.begin(), A.row_ptr.end(), first) - A.row_ptr.begin() - 1;
    for (std::int64_t k = first; k < last; ++row) {
      char word[20];  // the common part of the lines of this row
      const std::size_t length = std::size_t(put(word, row + 1) - word);
      const auto put_row = [&] {
        std::memcpy(p, word, length);
        p += length;
      };
      const std::int64_t end = std::min(last, A.row_ptr[row + 1]);
      for (k = std::max(k, std::min(end, row_start(A, row, options.symmetry))); k < end; ++k) {
        if (!triangle) put_row(), *p++ = ' ';
        p = put(p, std::int64_t(A.col_idx[k]) + 1);
        *p++ = ' ';
        if (triangle) put_row(), *p++ = ' ';
        p = put(p, skew ? -A.values[k] : A.values[k]);
        *p++ = '\n';
      }
    }
    return p;
  });
  writer.finish();
}

void write_vectors(const std::string& path, const std::vector<HostSpan<const double>>& columns,
                   const WriteOptions& options) {
  const std::int64_t n = columns[0].size();
  Writer writer(path, options.threads);
  writer.write(banner(FileLayout::array, Symmetry::general, options.comment) + std::to_string(n) + " " +
               std::to_string(columns.size()) + "\n");
  constexpr std::int64_t block = 1 << 15;
  for (const HostSpan<const double> x : columns)
    writer.write_blocks((n + block - 1) / block, block * (max_digits + 1), [&](std::int64_t b, char* p) {
      for (std::int64_t k = b * block; k < std::min((b + 1) * block, n); ++k) {
        p = put(p, x[k]);
        *p++ = '\n';
      }
      return p;
    });
  writer.finish();
}

void write_vector(const std::string& path, HostSpan<const double> x, const WriteOptions& options) {
  write_vectors(path, {x}, options);
}

}  // namespace seidel
