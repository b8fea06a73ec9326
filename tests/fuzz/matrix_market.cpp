// Fuzzing of the Matrix Market reader: whatever the bytes, it reads or refuses, alike for every cut among threads.
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DSEIDEL_CUDA=OFF -DSEIDEL_FUZZ=ON
//   ninja -C build/fuzz fuzz_matrix_market && mkdir -p build/fuzz/found
//   build/fuzz/tests/fuzz/fuzz_matrix_market -max_total_time=300 build/fuzz/found tests/formats/valid tests/formats/invalid
#include <cstdlib>
#include <cstring>
#include <string>

#include <seidel/formats/matrix_market/matrix_market.hpp>

namespace {

struct Outcome {
  std::string error;
  seidel::Csr<double, std::int64_t> matrix;
};

Outcome outcome_of(std::string_view text, int threads, std::int64_t chunk_bytes, bool repair) {
  seidel::ReadOptions options;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  options.repair = repair;
  options.memory_limit = 1 << 20;
  Outcome outcome;
  try {
    outcome.matrix = seidel::parse_matrix_market(text, "fuzz", options).matrix;
  } catch (const seidel::InputError& error) {
    outcome.error = error.what();
  } catch (const seidel::ResourceError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

template <class T>
bool same(const seidel::Array<T>& a, const seidel::Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), std::size_t(a.size()) * sizeof(T)) == 0);
}

void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of just the size, so that the sanitizer sees a byte too far.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool repair = size % 2 == 1;
  const Outcome whole = outcome_of(text, 1, 1 << 20, repair),
                cut = outcome_of(text, 2, 1 + std::int64_t(size / 3), repair);
  require(whole.error == cut.error);
  const auto &A = whole.matrix, &B = cut.matrix;
  require(same(A.row_ptr, B.row_ptr) && same(A.col_idx, B.col_idx) && same(A.values, B.values));
  if (!whole.error.empty()) return 0;
  require(A.row_ptr[0] == 0 && A.row_ptr[A.nrows] == A.nnz());
  for (seidel::Index row = 0; row < A.nrows; ++row)
    for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      require(A.col_idx[k] >= 0 && A.col_idx[k] < A.ncols && (k == A.row_ptr[row] || A.col_idx[k - 1] < A.col_idx[k]));
  return 0;
}
