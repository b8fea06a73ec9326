// Matrix Market files: the front door for reading and writing matrices and vectors.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// The words of a banner: `%%MatrixMarket matrix <Layout> <Field> <Symmetry>`. The format defines hermitian for complex
/// files only.
enum class FileLayout { coordinate, array };
enum class Field { real, integer, pattern, complex };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

std::string_view name(FileLayout layout);
std::string_view name(Field field);
std::string_view name(Symmetry symmetry);

struct ReadOptions {
  bool repair = false;  ///< take a file that says symmetric and gives entries in both triangles, if they agree
  std::string_view repair_by = "the option repair";  ///< for the message: what asks for that
  /// What becomes of a complex file: refused, or read as the real matrix [Re A, -Im A; Im A, Re A], by one thread, in
  /// triplets of 32 bytes per listed entry beside it. A vector, n x 1 with n > 1, becomes [Re b; Im b]. The x with
  /// A x = b is [Re x; Im x] then.
  enum class Complex { refused, as_real_form } complex = Complex::refused;
  std::string real_form_by = {};  ///< for the message: what makes that real system; empty: this option
  bool numbers_would_do = false;  ///< for the message: the caller takes a text of plain numbers as well
  int threads = available_threads();
  /// Called from time to time by the calling thread with the work done so far; total is 0 if it is not known. Must
  /// not throw.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  using Sized = std::function<void(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz)>;
  /// Called with the largest size that the matrix can have, before memory is allocated. May throw.
  Sized sized = {};
  std::int64_t memory_limit = 0;       ///< bytes that text and matrix may take; 0: what the system has to give
  std::int64_t chunk_bytes = 1 << 20;  ///< text that a thread takes at a time; never changes a result
};

/// What was found in a file. Entries are counted as the file lists them.
struct ReadReport {
  std::string file;
  FileLayout layout = FileLayout::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t nrows = 0, ncols = 0;
  std::int64_t entries = 0;         ///< entries listed
  std::int64_t nnz = 0;             ///< entries of the matrix: both triangles, duplicates summed, explicit zeros kept
  std::int64_t explicit_zeros = 0;  ///< listed entries that are zero (kept)
  std::int64_t underflows = 0;      ///< listed entries that are not zero, but nearer to it than to any other double
  std::int64_t duplicates = 0;      ///< listed entries that were added to one listed before
  std::int64_t mirrored = 0;        ///< pairs (i,j), (j,i) listed both in a symmetric file, taken once (repair only)
  std::int64_t nonfinite = 0;       ///< listed entries that are NaN or Inf (kept)
  std::string first_nonfinite;      ///< file:line:column of the first of them, or empty
  std::int64_t file_bytes = 0;      ///< as stored (compressed, for gzip); 0 where input is a pipe
  std::int64_t text_bytes = 0;      ///< of Matrix Market text
  std::int64_t large_integers = 0;  ///< listed integers of 2^53 or more, which may have been rounded
  double seconds = 0;
  std::vector<std::string> repairs;  ///< one sentence for each kind of thing that was not taken as it stands
};

struct MatrixFile {
  Csr<double, std::int64_t> matrix;  // canonical: columns ascending and distinct in each row
  ReadReport report;
};

/// Reads a matrix from a Matrix Market file, plain or gzip (detected by content, not by name), or from standard input for "-".
/// Pattern entries are 1. Integers are rounded to double like any decimal. Symmetric and skew-symmetric files are
/// expanded; they may list either triangle. Duplicates are summed in the order of the file, and reported. Zeros are kept.
///
/// Memory  the matrix, plus 64 KiB per thread, 4 bytes per row if symmetric or not in order, and for each thread the
///         longest row that is not in order; gzip in order 512 KiB, and as much per thread; other gzip files, and pipes,
///         also hold their text.
/// Repeats bit for bit, errors too, whatever the number of threads.
/// Errors  InputError `file:line:column: found X, expected Y` for the first defect of the file; ResourceError if the
///         matrix does not fit into memory, before it is allocated.
/// Source  Boisvert, Pozo, Remington, The Matrix Market exchange formats, NISTIR 5935, 1996.
MatrixFile read_matrix_market(const std::string& path, const ReadOptions& options = {});
/// The same for text in memory; messages call it `file`.
MatrixFile parse_matrix_market(std::string_view text, const std::string& file, const ReadOptions& options = {});

/// Reads a vector: an n x 1 matrix in array or coordinate layout; entries that are not listed are 0.
/// Errors  as read_matrix_market; InputError for more or fewer columns than one.
Array<double> read_vector(const std::string& path, const ReadOptions& options = {});

struct WriteOptions {
  Symmetry symmetry = Symmetry::general;  ///< the others: the lower triangle is written, by columns
  std::string comment = {};               ///< lines to stand below the banner
  int threads = available_threads();
};

/// The symmetry by which one triangle of A determines all of A, bit by bit: stored zeros and their signs
/// included. `general` for a matrix without entries.
/// Cost    at most two passes over A, which look for mirrors by bisection; allocates nothing.
Symmetry exact_symmetry(const CsrView<double, std::int64_t, Host>& A, int threads = available_threads());

/// Writes A in coordinate layout, each value with the fewest digits that read back to the same bits. A path that ends in
/// .gz is compressed; "-" is standard output. The file appears under its name only when it is complete.
///
/// Errors  InputError naming an entry that breaks the symmetry asked for; ResourceError naming the file, the bytes
///         written and the system's reason.
void write_matrix_market(const std::string& path, const CsrView<double, std::int64_t, Host>& A,
                         const WriteOptions& options = {});
/// Writes x as an n x 1 array. Otherwise as write_matrix_market.
void write_vector(const std::string& path, HostSpan<const double> x, const WriteOptions& options = {});
/// Writes vectors of one size as the columns of an array, one or more.
void write_vectors(const std::string& path, const std::vector<HostSpan<const double>>& columns,
                   const WriteOptions& options = {});

}  // namespace seidel
