// CSR to ELLPACK and SELL-C-sigma and back, on the device.
#include <seidel/formats/convert.hpp>

#include <seidel/formats/convert/cuda_device.cuh>
#include <seidel/formats/convert/padding.hpp>

namespace seidel {

using namespace convert_detail;

namespace {

constexpr int block = 256;

/// Where entries of a padded format stand. Rows are taken in tiles of `height` places.
struct EllPlaces {
  std::int64_t nrows;
  Index width;

  static constexpr int height = 32;
  SEIDEL_HD std::int64_t places() const { return nrows; }
  SEIDEL_HD std::int64_t tiles() const { return (nrows + height - 1) / height; }
  __device__ Index width_of(std::int64_t) const { return width; }
  __device__ std::int64_t row_at(std::int64_t place) const { return place; }
  __device__ std::int64_t at(std::int64_t tile, std::int64_t k, int lane) const {
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
  __device__ Index width_of(std::int64_t s) const { return Index((slice_ptr[s + 1] - slice_ptr[s]) / height); }
  __device__ std::int64_t row_at(std::int64_t place) const { return permutation ? permutation[place] : place; }
  __device__ std::int64_t at(std::int64_t s, std::int64_t k, int lane) const {
    return slice_ptr[s] + k * height + lane;
  }
};

/// visit(place, k, at) on the device for all places for entries. A block takes a tile, so that what its rows share of a
/// cache line is read once; several take one whose rows are long.
template <class Places, class Visit>
void visit_places(const Cuda& on, const Places& P, std::int64_t longest, const char* what, const Visit& visit) {
  const std::int64_t parts = std::clamp<std::int64_t>(longest * P.height / (32 * block), 1, 1024);
  for_each(on, P.tiles() * parts * block, what, [=] __device__(std::int64_t thread) {
    const std::int64_t tile = thread / (parts * block), size = std::int64_t(P.width_of(tile)) * P.height;
    for (std::int64_t i = thread % (parts * block); i < size; i += parts * block) {
      const std::int64_t k = i / P.height;
      const int lane = int(i % P.height);
      const std::int64_t place = tile * P.height + lane;
      if (place < P.places()) visit(place, k, P.at(tile, k, lane));
    }
  });
}

/// Entries of A to their places, and zeros to the others.
template <class Real, class Offset, class Places>
void spread(const Cuda& on, const CsrView<Real, Offset, Device>& A, const Places& P, std::int64_t longest,
            const Index* row_length, Index* col_idx, Real* values) {
  visit_places(on, P, longest, "spreading entries",
               [=] __device__(std::int64_t place, std::int64_t k, std::int64_t at) {
                 const bool stored = k < row_length[place];
                 const std::int64_t from = stored ? A.row_ptr[P.row_at(place)] + k : 0;
                 col_idx[at] = stored ? A.col_idx[from] : 0;
                 values[at] = stored ? A.values[from] : Real(0);
               });
}

/// The other way round: `lengths` are of places, the result has rows.
template <class Offset, class Real, class Places>
Csr<Real, Offset, Device> gathered(const Cuda& on, const Places& P, Index nrows, Index ncols, std::int64_t nnz,
                                   const Index* lengths, const Index* col_idx, const Real* values) {
  require_offsets<Offset>("to_csr", nnz, "take 64-bit row pointers");
  auto to = Csr<Real, Offset, Device>::uninitialised(on, nrows, ncols, nnz);
  Offset* const ptr = to.row_ptr.data();
  for_each(on, std::int64_t(nrows) + 1, "taking lengths", [=] __device__(std::int64_t place) {
    if (place < nrows)
      ptr[P.row_at(place)] = lengths[place];
    else
      ptr[place] = 0;
  });
  exclusive_sum(on, to.row_ptr.span());
  const Index longest = longest_row(on, DeviceSpan<const Offset>(to.row_ptr));
  visit_places(on, P, longest, "gathering entries",
               [=, to_col_idx = to.col_idx.data(), to_values = to.values.data()] __device__(
                   std::int64_t place, std::int64_t k, std::int64_t at) {
                 if (k >= lengths[place]) return;
                 const std::int64_t entry = ptr[P.row_at(place)] + k;
                 to_col_idx[entry] = col_idx[at];
                 to_values[entry] = values[at];
               });
  return to;
}

/// Rows of each window of sigma by descending length, those of one length in their order.
template <class Offset>
Array<Index, Device> sorted_within_windows(const Cuda& on, DeviceSpan<const Offset> row_ptr, Index sigma,
                                           Index longest) {
  const std::int64_t nrows = row_ptr.size() - 1;
  auto pairs = sorted_numbers<Index>(
      on, nrows, (nrows + sigma - 1) / sigma, [=] __device__(Index i) { return i / sigma; }, std::int64_t(longest) + 1,
      [=] __device__(std::int64_t i) { return longest - Index(row_ptr[i + 1] - row_ptr[i]); });
  pairs.payload[0].truncate(nrows);
  return std::move(pairs.payload[0]);
}

}  // namespace

template <class Real, class Offset>
Ell<Real, Device> to_ell(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  const std::int64_t width = longest_row(on, A.row_ptr), nrows = A.nrows;
  refuse_padding({"to_ell", "take SELL (to_sell), which pads only within a slice, or keep CSR", nrows, A.nnz(), width,
                  saturating_product(nrows, width), ell_bytes<Real>(nrows, width)},
                 on);
  Ell<Real, Device> to{A.nrows,
                       A.ncols,
                       Index(width),
                       Array<Index, Device>(on, nrows),
                       Array<Index, Device>(on, nrows * width),
                       Array<Real, Device>(on, nrows * width),
                       A.nnz()};
  for_each(on, nrows, "taking lengths", [=, length = to.row_length.data()] __device__(std::int64_t i) {
    length[i] = Index(A.row_ptr[i + 1] - A.row_ptr[i]);
  });
  spread(on, A, EllPlaces{nrows, Index(width)}, width, to.row_length.data(), to.col_idx.data(), to.values.data());
  return to;
}

template <class Real, class Offset>
Sell<Real, Device> to_sell(const Cuda& on, const CsrView<Real, Offset, Device>& A, Index slice_height, Index sigma) {
  require_slices(slice_height, sigma);
  const std::int64_t C = slice_height, nrows = A.nrows, nslices = (nrows + C - 1) / C;
  const Index longest = longest_row(on, A.row_ptr);
  Sell<Real, Device> to;
  to.nrows = A.nrows;
  to.ncols = A.ncols;
  to.slice_height = slice_height;
  to.sigma = sigma;
  to.nnz = A.nnz();
  if (sigma > 1) to.permutation = sorted_within_windows(on, A.row_ptr, sigma, longest);
  to.row_length = Array<Index, Device>(on, nslices * C);
  to.slice_ptr = Array<std::int64_t, Device>(on, nslices + 1);
  const SellPlaces P{to.slice_ptr.data(), to.permutation.data(), nrows, nslices, slice_height};
  // A slice has at most 2^43 places, all of them at most 2^62: sums do not overflow.
  for_each(on, nslices + 1, "measuring slices",
           [=, width = to.slice_ptr.data()] __device__(std::int64_t s) { width[s] = 0; });
  for_each(on, nslices * C, "measuring slices",
           [=, length = to.row_length.data(), places = to.slice_ptr.data()] __device__(std::int64_t p) {
             const std::int64_t row = p < nrows ? P.row_at(p) : 0;
             length[p] = p < nrows ? Index(A.row_ptr[row + 1] - A.row_ptr[row]) : 0;
             atomicMax(reinterpret_cast<unsigned long long*>(places + p / C), (unsigned long long)(C * length[p]));
           });
  exclusive_sum(on, to.slice_ptr.span());
  const std::int64_t places = value_of(on, to.slice_ptr.data() + nslices);
  refuse_padding({"to_sell", sigma == 1 ? "sort rows of like length together (sigma above 1), or keep CSR" : "keep CSR",
                  nrows, A.nnz(), longest, places, sell_bytes<Real>(nrows, places, slice_height, sigma)},
                 on);
  to.col_idx = Array<Index, Device>(on, places);
  to.values = Array<Real, Device>(on, places);
  spread(on, A, P, longest, to.row_length.data(), to.col_idx.data(), to.values.data());
  return to;
}

template <class Offset, class Real>
Csr<Real, Offset, Device> to_csr(const Cuda& on, const EllView<Real, Device>& A) {
  return gathered<Offset>(on, EllPlaces{A.nrows, A.width}, A.nrows, A.ncols, A.nnz, A.row_length.data(),
                          A.col_idx.data(), A.values.data());
}
template <class Offset, class Real>
Csr<Real, Offset, Device> to_csr(const Cuda& on, const SellView<Real, Device>& A) {
  return gathered<Offset>(on,
                          SellPlaces{A.slice_ptr.data(), A.permutation.empty() ? nullptr : A.permutation.data(),
                                     A.nrows, A.nslices(), A.slice_height},
                          A.nrows, A.ncols, A.nnz, A.row_length.data(), A.col_idx.data(), A.values.data());
}

template Ell<double, Device> to_ell(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template Ell<double, Device> to_ell(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template Ell<float, Device> to_ell(const Cuda&, const CsrView<float, std::int32_t, Device>&);
template Ell<float, Device> to_ell(const Cuda&, const CsrView<float, std::int64_t, Device>&);

template Sell<double, Device> to_sell(const Cuda&, const CsrView<double, std::int32_t, Device>&, Index, Index);
template Sell<double, Device> to_sell(const Cuda&, const CsrView<double, std::int64_t, Device>&, Index, Index);
template Sell<float, Device> to_sell(const Cuda&, const CsrView<float, std::int32_t, Device>&, Index, Index);
template Sell<float, Device> to_sell(const Cuda&, const CsrView<float, std::int64_t, Device>&, Index, Index);

template Csr<double, std::int32_t, Device> to_csr<std::int32_t>(const Cuda&, const EllView<double, Device>&);
template Csr<double, std::int64_t, Device> to_csr<std::int64_t>(const Cuda&, const EllView<double, Device>&);
template Csr<float, std::int32_t, Device> to_csr<std::int32_t>(const Cuda&, const EllView<float, Device>&);
template Csr<float, std::int64_t, Device> to_csr<std::int64_t>(const Cuda&, const EllView<float, Device>&);
template Csr<double, std::int32_t, Device> to_csr<std::int32_t>(const Cuda&, const SellView<double, Device>&);
template Csr<double, std::int64_t, Device> to_csr<std::int64_t>(const Cuda&, const SellView<double, Device>&);
template Csr<float, std::int32_t, Device> to_csr<std::int32_t>(const Cuda&, const SellView<float, Device>&);
template Csr<float, std::int64_t, Device> to_csr<std::int64_t>(const Cuda&, const SellView<float, Device>&);

}  // namespace seidel
