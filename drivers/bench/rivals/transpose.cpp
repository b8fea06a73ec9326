// Transposition of CSR, seidel's.
#include <seidel/drivers/bench/rivals/lists.hpp>
#include <seidel/drivers/bench/rivals/transposed.hpp>
#include <seidel/formats/convert.hpp>

namespace seidel::drivers {

namespace {

template <HostBackend B>
Prepared prepare(const Task& task, const Where& where) {
  return transposed<std::int64_t>([on = back_end<B>(where), A = task.A.view()](Matrix& T) { T = transpose(on, A); });
}

constexpr std::string_view what = "entries counted by column, then placed; the result is allocated each time";

}  // namespace

std::vector<Rival> transpose_rivals() {
  return {{"transpose", "csr", BackendName::serial, "", true, what, prepare<Serial>},
          {"transpose", "csr", BackendName::openmp, "", true, what, prepare<OpenMP>}};
}

}  // namespace seidel::drivers
