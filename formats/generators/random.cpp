// Entries at random positions.
#include <atomic>

#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

/// row_ptr[i + 1] = length of row i. Each entry goes to a random row; if that row is full, to the next one with
/// room.
void draw_lengths(const OpenMP& on, Array<std::int64_t>& row_ptr, std::int64_t nrows, std::int64_t ncols,
                  std::int64_t nnz, std::uint64_t seed) {
  for_shares(on, nrows + 1, 1, [&](std::int64_t first, std::int64_t last, int) {
    std::fill(row_ptr.data() + first, row_ptr.data() + last, std::int64_t(0));
  });
  const Stream bits(seed, Draw::lengths, 0);
  for_each_index(on, nnz, 1, [&](std::int64_t k) {
    std::atomic_ref<std::int64_t>(row_ptr[1 + below(bits(std::uint64_t(k)), nrows)])
        .fetch_add(1, std::memory_order_relaxed);
  });
  std::int64_t excess = 0;
  for (int round = 0; round < 2; ++round)
    for (std::int64_t i = 1; i <= nrows; ++i) {
      const std::int64_t wanted = row_ptr[i] + excess;
      row_ptr[i] = std::min(wanted, ncols);
      excess = wanted - row_ptr[i];
    }
}

Matrix make_random(const OpenMP& on, const Spec& spec, std::uint64_t seed) {
  spec.require_arguments(2, 2);
  const auto sides = spec.product(0);
  if (sides.size() != 2) spec.refuse(spec.word(0), "two sizes, MxN");
  const std::int64_t nrows = sides[0], ncols = sides[1], nnz = spec.integer(1, 0, nrows * ncols);
  Matrix A = room_for(spec, nrows, ncols, nnz);
  draw_lengths(on, A.row_ptr, nrows, ncols, nnz, seed);
  offsets_from_lengths(on, A.row_ptr);
  fill_rows(on, A, [&](std::int64_t i, Index* columns, double* values) {
    const std::int64_t length = A.row_ptr[i + 1] - A.row_ptr[i];
    distinct_columns(Stream(seed, Draw::columns, std::uint64_t(i)), ncols, length, columns);
    const Stream bits(seed, Draw::values, std::uint64_t(i));
    for (std::int64_t k = 0; k < length; ++k) values[k] = signed_uniform(bits(std::uint64_t(k)));
  });
  return A;
}

}  // namespace

constinit const Generator random{"random", "random:MxN:NNZ", "random:100000x100000:1000000",
                                 "NNZ entries in distinct places of an M x N matrix, values uniform in (-1, 1)",
                                 make_random};

}  // namespace seidel::generators
