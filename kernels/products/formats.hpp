// The formats that products are computed in: the one table. `info`, `validate`, `bench` and Product walk it.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <seidel/formats/statistics.hpp>
#include <seidel/kernels/products/product.hpp>

namespace seidel {

/// What a matrix would take in a format.
struct FormatSize {
  std::optional<std::int64_t> bytes = {};  ///< no value where it cannot be
  double places_per_entry = 1;             ///< 1 without padding
  std::string refusal = {};                ///< why the conversion throws ResourceError, as far as A alone decides it
};

// An entry has
//   name, variant, title, help   as commands, `bench` and reports name it, and a phrase of what it is
//   several_columns              whether spmm takes it
//   made(on, A)                  the CSR matrix A in this format, in the memory of `on`; throws where it is refused
//   size(on, A)                  what that would take; absent where it is known only once it is made
namespace product_formats {

struct AsCsr {
  static constexpr std::string_view name = "csr", variant = "", title = "CSR", help = "rows of CSR, in the one order";
  static constexpr bool several_columns = true;
  static auto made(const auto&, const auto& A) {
    return A;  // as it stands
  }
  static FormatSize size(const auto&, const auto& A) { return {.bytes = csr_bytes(A)}; }
};

/// What solvers use.
struct AsPrepared {
  static constexpr std::string_view name = "prepared", variant = "", title = "prepared",
                                    help = "the form of CSR that reads the fewest bytes, found once";
  static constexpr bool several_columns = true;
  static auto made(const auto& on, const auto& A) { return Product(on, A); }
};

inline std::string padding_refusal(double places_per_entry) {
  return places_per_entry > max_padding ? "more than " + std::to_string(max_padding) : "";
}

struct AsEll {
  static constexpr std::string_view name = "ell", variant = "", title = "ELL", help = "ELLPACK, true row lengths kept";
  static constexpr bool several_columns = true;
  static auto made(const auto& on, const auto& A) { return to_ell(on, A); }
  static FormatSize size(const auto& on, const auto& A) {
    const FormatBytes bytes = format_bytes(on, A);
    return {bytes.ell, bytes.ell_padding, padding_refusal(bytes.ell_padding)};
  }
};

/// Rows sorted by length in windows of so many.
template <int window>
struct AsSell {
  static constexpr bool sorted = window > 1;
  static constexpr std::string_view name = "sell", variant = sorted ? "sorted" : "",
                                    title = sorted ? "SELL-32-4096" : "SELL-32",
                                    help = sorted ? "SELL-32, rows sorted by length in windows of 4096"
                                                  : "SELL-32, rows in the matrix's order";
  static constexpr bool several_columns = false;
  static auto made(const auto& on, const auto& A) { return to_sell(on, A, 32, window); }
  static FormatSize size(const auto& on, const auto& A) requires(!sorted) {
    const FormatBytes bytes = format_bytes(on, A);
    return {bytes.sell, bytes.sell_padding, padding_refusal(bytes.sell_padding)};
  }
};

template <int block>
struct AsBsr {
  static constexpr std::string_view name = block == 2 ? "bsr2" : block == 3 ? "bsr3" : block == 4 ? "bsr4" : "bsr6";
  static constexpr std::string_view variant = "", title = block == 2   ? "BSR 2x2"
                                                          : block == 3 ? "BSR 3x3"
                                                          : block == 4 ? "BSR 4x4"
                                                                       : "BSR 6x6";
  static constexpr std::string_view help = "full blocks with one column index each";
  static constexpr bool several_columns = true;
  static auto made(const auto& on, const auto& A) { return to_bsr<block>(on, A); }
  template <class Real, class Offset, class Space>
  static FormatSize size(const auto& on, const CsrView<Real, Offset, Space>& A) {
    if (first_gap<block>(on, A) >= 0) return {.refusal = "blocks with gaps"};
    return {.bytes = bsr_bytes<Real>(A.nrows, A.nnz(), block)};
  }
};

}  // namespace product_formats

/// Bytes that a matrix in one of the formats holds; a Product beyond the matrix that it views.
std::int64_t bytes_of(const auto& A) {
  const auto of = []<class T, class Space>(const Array<T, Space>& a) { return a.size() * std::int64_t(sizeof(T)); };
  if constexpr (requires { A.bytes(); }) {
    return A.bytes();
  } else if constexpr (!requires { of(A.values); }) {
    return 0;
  } else {
    std::int64_t bytes = of(A.col_idx) + of(A.values);
    if constexpr (requires { A.row_ptr; }) bytes += of(A.row_ptr);
    if constexpr (requires { A.row_length; }) bytes += of(A.row_length);
    if constexpr (requires { A.slice_ptr; }) bytes += of(A.slice_ptr) + of(A.permutation);
    return bytes;
  }
}

/// The default first.
using ProductFormats = std::tuple<product_formats::AsCsr, product_formats::AsPrepared, product_formats::AsEll,
                                  product_formats::AsSell<1>, product_formats::AsSell<4096>, product_formats::AsBsr<2>,
                                  product_formats::AsBsr<3>, product_formats::AsBsr<4>, product_formats::AsBsr<6>>;

/// y = A x and Y = A X with a matrix that made() gave.
template <Backend B, class Made, class... Operands>
void multiply(const B& on, const Made& A, const Operands&... operands) {
  if constexpr (requires { A.apply(operands...); })
    A.apply(operands...);
  else if constexpr (requires { spmm(on, view_of(A), operands...); })
    spmm(on, view_of(A), operands...);
  else
    spmv(on, view_of(A), operands...);
}

/// visit(entry) for each entry of the table.
void for_each_product_format(const auto& visit) {
  std::apply([&](const auto&... format) { (visit(format), ...); }, ProductFormats{});
}

}  // namespace seidel
