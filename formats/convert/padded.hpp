// ELLPACK and SELL-C-sigma from CSR and back, on every back end. It is included by padded.cpp and cuda_padded.cu, below the loops
// of their back end that are used here.
#pragma once
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel {

namespace convert_detail {

struct Padding {
  const char* where;
  const char* remedy;
  std::int64_t nrows, nnz, longest_row;
  std::int64_t places;  // for entries, padding included
  std::int64_t bytes;   // that the result takes
};

/// Throws ResourceError if the padding is above 8 places per entry, or the bytes above what is free in the memory of `on`.
template <Backend B>
void refuse_padding(const Padding& p, const B& on) {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::string what = std::string(p.where) + ": " + counted(p.nrows, "row") + " of " +
                           counted(p.nnz, "entry", "entries") + ", the longest of " + number(p.longest_row) +
                           ", would take " + bytes_text(p.bytes);
  if (p.places / max_padding > p.nnz || (p.places / max_padding == p.nnz && p.places % max_padding > 0))
    throw ResourceError(what + ": found " + number(p.places / std::max<std::int64_t>(p.nnz, 1)) +
                        " places for each entry, expected at most " + number(max_padding) + "\n  " + p.remedy);
  if (const std::int64_t free = available_bytes(on); p.bytes > free)
    throw ResourceError(what + ": found " + bytes_text(free) +
                        (HostBackend<B> ? " of free memory" : " of free memory on the GPU") + "\n  " + p.remedy);
}

/// Where entries of a padded format stand. Rows are taken in tiles of `height` places.
struct EllPlaces {
  std::int64_t nrows;
  Index width;

  static constexpr int height = 32;
  SEIDEL_HD std::int64_t places() const { return nrows; }
  SEIDEL_HD std::int64_t tiles() const { return (nrows + height - 1) / height; }
  SEIDEL_HD Index width_of(std::int64_t) const { return width; }
  SEIDEL_HD std::int64_t row_at(std::int64_t place) const { return place; }
  SEIDEL_HD std::int64_t at(std::int64_t tile, std::int64_t k, int lane) const {
    return k * nrows + tile * height + lane;
  }
};
struct SellPlaces {
  const std::int64_t* slice_ptr;
  const Index* permutation;  // nullptr: the order of the matrix
  std::int64_t nrows, nslices;
  int height;

  SEIDEL_HD std::int64_t places() const { return nslices * height; }  // those of no row are padded too
  SEIDEL_HD std::int64_t tiles() const { return nslices; }
  SEIDEL_HD Index width_of(std::int64_t s) const { return Index((slice_ptr[s + 1] - slice_ptr[s]) / height); }
  SEIDEL_HD std::int64_t row_at(std::int64_t place) const { return permutation ? permutation[place] : place; }
  SEIDEL_HD std::int64_t at(std::int64_t s, std::int64_t k, int lane) const { return slice_ptr[s] + k * height + lane; }
};

/// Entries of A to their places, and zeros to the others.
template <Backend On, class Real, class Offset, class Places>
void spread(const On& on, const CsrView<Real, Offset, typename On::Space>& A, const Places& P, std::int64_t longest,
            const Index* row_length, Index* col_idx, Real* values) {
  visit_places(on, P, longest, "spreading entries", [=] SEIDEL_HD(std::int64_t place, std::int64_t k, std::int64_t at) {
    const bool stored = k < row_length[place];
    const std::int64_t from = stored ? A.row_ptr[P.row_at(place)] + k : 0;
    col_idx[at] = stored ? A.col_idx[from] : 0;
    values[at] = stored ? A.values[from] : Real(0);
  });
}

/// The other way round: A.row_length is of places, the result has rows.
template <class Offset, Backend On, class Padded, class Places>
Csr<typename Padded::Real, Offset, typename On::Space> gathered(const On& on, const Padded& A, const Places& P) {
  using Real = typename Padded::Real;
  require_offsets<Offset>("to_csr", A.nnz, "take 64-bit row pointers");
  auto to = Csr<Real, Offset, typename On::Space>::uninitialised(on, A.nrows, A.ncols, A.nnz);
  const std::int64_t nrows = A.nrows;
  Offset* const ptr = to.row_ptr.data();
  for_each(on, nrows + 1, "taking lengths", [=] SEIDEL_HD(std::int64_t place) {
    if (place < nrows)
      ptr[P.row_at(place)] = A.row_length[place];
    else
      ptr[place] = 0;
  });
  exclusive_sum(on, to.row_ptr.span());
  Index* const col_idx = to.col_idx.data();
  Real* const values = to.values.data();
  visit_places(on, P, longest_row(on, Span<const Offset, typename On::Space>(to.row_ptr)), "gathering entries",
               [=] SEIDEL_HD(std::int64_t place, std::int64_t k, std::int64_t at) {
                 if (k >= A.row_length[place]) return;
                 const std::int64_t entry = ptr[P.row_at(place)] + k;
                 col_idx[entry] = A.col_idx[at];
                 values[entry] = A.values[at];
               });
  return to;
}

}  // namespace convert_detail

template <Backend On, class Real, class Offset>
Ell<Real, typename On::Space> to_ell(const On& on, const CsrView<Real, Offset, typename On::Space>& A) {
  using namespace convert_detail;
  using Space = typename On::Space;
  const std::int64_t width = longest_row(on, A.row_ptr), nrows = A.nrows;
  refuse_padding({"to_ell", "take SELL (to_sell), which pads only within a slice, or keep CSR", nrows, A.nnz(), width,
                  saturating_product(nrows, width), ell_bytes(nrows, width, int(sizeof(Real)))},
                 on);
  Ell<Real, Space> to{A.nrows,
                      A.ncols,
                      Index(width),
                      Array<Index, Space>(on, nrows),
                      Array<Index, Space>(on, nrows * width),
                      Array<Real, Space>(on, nrows * width),
                      A.nnz()};
  Index* const length = to.row_length.data();
  for_each(on, nrows, "taking lengths",
           [=] SEIDEL_HD(std::int64_t i) { length[i] = Index(A.row_ptr[i + 1] - A.row_ptr[i]); });
  spread(on, A, EllPlaces{nrows, Index(width)}, width, length, to.col_idx.data(), to.values.data());
  return to;
}

template <Backend On, class Real, class Offset>
Sell<Real, typename On::Space> to_sell(const On& on, const CsrView<Real, Offset, typename On::Space>& A,
                                       Index slice_height, Index sigma) {
  using namespace convert_detail;
  using Space = typename On::Space;
  require_slices(slice_height, sigma);
  const std::int64_t C = slice_height, nrows = A.nrows, nslices = (nrows + C - 1) / C;
  const Index longest = Index(longest_row(on, A.row_ptr));
  Sell<Real, Space> to;
  to.nrows = A.nrows;
  to.ncols = A.ncols;
  to.slice_height = slice_height;
  to.sigma = sigma;
  to.nnz = A.nnz();
  if (sigma > 1) to.permutation = sorted_within_windows(on, A.row_ptr, sigma, longest);
  to.row_length = Array<Index, Space>(on, nslices * C);
  to.slice_ptr = Array<std::int64_t, Space>(on, nslices + 1);
  const SellPlaces P{to.slice_ptr.data(), to.permutation.data(), nrows, nslices, slice_height};
  Index* const length = to.row_length.data();
  for_each(on, nslices * C, "taking lengths", [=] SEIDEL_HD(std::int64_t p) {
    const std::int64_t row = p < nrows ? P.row_at(p) : 0;
    length[p] = p < nrows ? Index(A.row_ptr[row + 1] - A.row_ptr[row]) : 0;
  });
  // A slice has at most 2^43 places, all of them at most 2^62: sums do not overflow.
  measure_slices(on, length, C, to.slice_ptr.span());
  exclusive_sum(on, to.slice_ptr.span());
  const std::int64_t places = value_of(on, to.slice_ptr.data() + nslices);
  refuse_padding({"to_sell", sigma == 1 ? "sort rows of like length together (sigma above 1), or keep CSR" : "keep CSR",
                  nrows, A.nnz(), longest, places, sell_bytes(nrows, places, slice_height, sigma, int(sizeof(Real)))},
                 on);
  to.col_idx = Array<Index, Space>(on, places);
  to.values = Array<Real, Space>(on, places);
  spread(on, A, P, longest, length, to.col_idx.data(), to.values.data());
  return to;
}

template <class Offset, Backend On, class Real>
Csr<Real, Offset, typename On::Space> to_csr(const On& on, const EllView<Real, typename On::Space>& A) {
  using namespace convert_detail;
  return gathered<Offset>(on, A, EllPlaces{A.nrows, A.width});
}
template <class Offset, Backend On, class Real>
Csr<Real, Offset, typename On::Space> to_csr(const On& on, const SellView<Real, typename On::Space>& A) {
  using namespace convert_detail;
  return gathered<Offset>(on, A,
                          SellPlaces{A.slice_ptr.data(), A.permutation.empty() ? nullptr : A.permutation.data(),
                                     A.nrows, A.nslices(), A.slice_height});
}

}  // namespace seidel
