// Where the nonzeros are, as a picture for a terminal.
#include <algorithm>
#include <cmath>
#include <vector>

#include <seidel/drivers/report/spy.hpp>

namespace seidel::drivers {

namespace {

/// Entries of A in each cell of a grid.
struct Grid {
  int rows, columns;
  std::vector<std::int64_t> entries;

  Grid(const CsrView<double, std::int64_t, Host>& A, int rows_, int columns_)
      : rows(rows_), columns(columns_), entries(std::size_t(rows_) * columns_) {
    const auto first_row = [&](std::int64_t r) { return (r * A.nrows + rows - 1) / rows; };  // of the matrix, in row r
    for (int r = 0; r < rows; ++r)
      for (std::int64_t k = A.row_ptr[first_row(r)]; k < A.row_ptr[first_row(r + 1)]; ++k)
        ++entries[std::size_t(r) * columns + std::int64_t(A.col_idx[k]) * columns / A.ncols];
  }
  std::int64_t at(int row, int column) const {
    return row < rows && column < columns ? entries[std::size_t(row) * columns + column] : 0;
  }
};

/// U+2800 ... U+28FF in UTF-8.
std::string braille(int dots) {
  const int code = 0x2800 + dots;
  return {char(0xE2), char(0x80 | (code >> 6 & 0x3F)), char(0x80 | (code & 0x3F))};
}

}  // namespace

std::string spy_plot(const CsrView<double, std::int64_t, Host>& A, int columns, bool unicode) {
  if (A.nrows == 0 || A.ncols == 0) return "";
  const int across = unicode ? 2 : 1, down = unicode ? 4 : 1;
  const double shape = double(A.nrows) / double(A.ncols);
  // A character is about twice as high as wide, so a cell of 2 x 4 dots is square and a whole character is not.
  int wide = int(std::min<std::int64_t>((A.ncols + across - 1) / across, columns));
  int high = unicode ? int(std::lround(wide * 0.5 * shape)) : int(std::lround(wide * shape / 2));
  const int most = std::max(4, columns / 2);
  if (high > most) high = most, wide = std::clamp(int(std::lround(2 * most / shape)), 1, wide);
  high = std::max(1, int(std::min<std::int64_t>(std::max(high, 1), (A.nrows + down - 1) / down)));
  const Grid grid(A, int(std::min<std::int64_t>(std::int64_t(high) * down, A.nrows)),
                  int(std::min<std::int64_t>(std::int64_t(wide) * across, A.ncols)));

  const double cell = double(A.nrows) / grid.rows * (double(A.ncols) / grid.columns);
  const auto line = [&](const char* left, const char* middle, const char* right) {
    std::string text = left;
    for (int c = 0; c < wide; ++c) text += middle;
    return text + right + "\n";
  };
  std::string text = unicode ? line("┌", "─", "┐") : line("+", "-", "+");
  for (int r = 0; r < high; ++r) {
    text += unicode ? "│" : "|";
    for (int c = 0; c < wide; ++c) {
      if (unicode) {
        const int bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
        int dots = 0;
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 2; ++j)
            if (grid.at(4 * r + i, 2 * c + j)) dots |= bit[i][j];
        text += braille(dots);
      } else {
        const double full = double(grid.at(r, c)) / cell;
        text += full == 0 ? ' ' : full < 0.05 ? '.' : full < 0.25 ? ':' : full < 0.75 ? '+' : '#';
      }
    }
    text += unicode ? "│\n" : "|\n";
  }
  return text + (unicode ? line("└", "─", "┘") : line("+", "-", "+"));
}

}  // namespace seidel::drivers
