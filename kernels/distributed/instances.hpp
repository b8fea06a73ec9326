// Everything that runs once per row or entry, named once for all back ends.
#pragma once
#include <seidel/kernels/distributed/rows.hpp>

namespace seidel::distributed_detail {

/// Never called: names the functions, so that their code is emitted where this is instantiated.
template <class B, class Offset>
void instances(const B& on, const Processes& all, const Offset*) {
  using Space = SpaceOf<B>;
  Csr<double, Offset, Space> A;
  const Halo halo = find_halo<B, Offset>(on, all, RowShares(0, 1), A);
  own_diagonal<B, Offset>(on, halo, A.view());
  with_rows_of_others<B, Offset>(on, halo, A.view());
  with_symmetric_part<B, Offset>(on, halo, A.view());
  rows_of_columns<B, Offset>(on, all, halo, A.view());
  added_rows<B, Offset>(on, all, halo, A.view());
  rows_between<B, Offset>(on, A.view(), 0, 0);
  move_columns<B>(on, 0, {});
}

}  // namespace seidel::distributed_detail
