// Numbers of rows and columns, from those of one process to those of all.
#pragma once
#include <seidel/kernels/distributed/local_rows.hpp>

namespace seidel {

namespace distributed_detail {

template <class Space>
struct Number {
  Span<const Index, Space> of;
  std::int64_t first;
  Span<double, Space> numbers;
  SEIDEL_HD void operator()(std::int64_t i) const { numbers[i] = of[i] < 0 ? -1 : double(first + of[i]); }
};
template <class Space>
struct ToIndex {
  Span<const double, Space> from;
  Span<Index, Space> to;
  SEIDEL_HD void operator()(std::int64_t i) const { to[i] = Index(from[i]); }
};
template <class Space>
struct MoveColumn {
  Index by;
  Span<Index, Space> columns;
  SEIDEL_HD void operator()(std::int64_t k) const { columns[k] += by; }
};

}  // namespace distributed_detail

/// first + of[i], or -1 where of[i] is negative: as numbers that a halo can have.
template <Backend B>
Array<double, SpaceOf<B>> numbered(const B& on, Span<const Index, SpaceOf<B>> of, std::int64_t first) {
  Array<double, SpaceOf<B>> numbers(on, of.size());
  distributed_detail::for_each_of(on, of.size(), distributed_detail::Number<SpaceOf<B>>{of, first, numbers});
  return numbers;
}
/// The same numbers as indices.
template <Backend B>
Array<Index, SpaceOf<B>> indices(const B& on, Span<const double, SpaceOf<B>> from) {
  Array<Index, SpaceOf<B>> to(on, from.size());
  distributed_detail::for_each_of(on, from.size(), distributed_detail::ToIndex<SpaceOf<B>>{from, to});
  return to;
}
/// Adds `by` to each.
template <Backend B>
void move_columns(const B& on, Index by, Span<Index, SpaceOf<B>> columns) {
  distributed_detail::for_each_of(on, columns.size(), distributed_detail::MoveColumn<SpaceOf<B>>{by, columns});
}

}  // namespace seidel
