// Every conversion, named once for all back ends. None of these functions is called: where one is instantiated, below the
// definitions of what it names, their code is emitted.
#pragma once
#include <seidel/formats/convert.hpp>
#include <seidel/formats/instances.hpp>
#include <seidel/formats/permute.hpp>

namespace seidel::convert_detail {

template <Backend B>
void instances_from_triplets(const B& on) {
  with_each_real([&]<class Real>(Real*) {
    const CooView<Real, typename B::Space> A;
    to_csr<std::int32_t>(on, A), to_csr<std::int64_t>(on, A);
  });
}

template <Backend B>
void instances_of_transpose(const B& on) {
  using Space = typename B::Space;
  const auto one = [&]<class Value, class Offset>(const CsrView<Value, Offset, Space>& A, Value*) {
    Csr<Value, Offset, Space> T;
    transpose(on, A, T);
  };
  with_each_csr<Space>(one);
  with_each_offset<Space>([&]<class Offset>(const Span<const Offset, Space>& row_ptr) {
    one(CsrView<Offset, Offset, Space>(), static_cast<Offset*>(nullptr));
    copy_offsets(on, row_ptr, Span<std::int32_t, Space>()), copy_offsets(on, row_ptr, Span<std::int64_t, Space>());
  });
}

template <Backend B>
void instances_of_permuted(const B& on) {
  with_each_csr<typename B::Space>([&](const auto& A, auto*) { permuted(on, A, {}); });
}

template <Backend B>
void instances_of_padded(const B& on) {
  using Space = typename B::Space;
  with_each_csr<Space>([&]<class Real, class Offset>(const CsrView<Real, Offset, Space>& A, Real*) {
    to_csr<Offset>(on, to_ell(on, A).view()), to_csr<Offset>(on, to_sell(on, A).view());
  });
}

template <int... block, Backend B>
void instances_of_blocks(const B& on) {
  using Space = typename B::Space;
  with_each_csr<Space>([&]<class Real, class Offset>(const CsrView<Real, Offset, Space>& A, Real*) {
    ((first_gap<block>(on, A), to_csr<Offset>(on, to_bsr<block>(on, A).view())), ...);
  });
}

}  // namespace seidel::convert_detail
