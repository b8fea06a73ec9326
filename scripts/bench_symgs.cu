// Measures the natural-order sweep on a GPU by itself, beside cuSPARSE's SpSV: checked bit for bit against a serial sweep on
// the host with changing right-hand sides, then timed between events.
//
//   bench_symgs [--quick] [--float] [--no-spsv] [--small] [MATRIX[/colours]...]
//
// --small: only the many small matrices that are checked and not timed. Ends with 1 if a result was wrong.
#include <cuda_runtime.h>
#include <cusparse.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include <seidel/formats/cuda_check.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/kernels/symgs/colours.hpp>
#include <seidel/kernels/symgs/cuda_natural.hpp>
#include <seidel/kernels/symgs/row.hpp>

#include "bench_symgs_matrices.hpp"

namespace bench {

using symgs_detail::NaturalOptions;
using symgs_detail::NaturalReport;
using symgs_detail::NaturalSweep;

int wrong_results = 0;
bool quick = false, with_spsv = true, profile = false;
std::vector<std::string> table;

struct Time {
  double ms = 0, low = 0, high = 0;
};
/// Medians of single runs between events, with the spread.
template <class Run>
Time timed(const Cuda& on, const Run& run) {
  cudaEvent_t begin, end;
  cuda_check(cudaEventCreate(&begin), "an event");
  cuda_check(cudaEventCreate(&end), "an event");
  const auto once = [&] {
    cuda_check(cudaEventRecord(begin, on.stream()), "an event");
    run();
    cuda_check(cudaEventRecord(end, on.stream()), "an event");
    cuda_check(cudaEventSynchronize(end), "a measured run");
    float ms;
    cuda_check(cudaEventElapsedTime(&ms, begin, end), "an event");
    return double(ms);
  };
  double first = once();
  if (first < 50) first = once(), first = once();
  std::vector<double> all(first > 500 ? 1 : first > 50 ? 3 : quick ? 9 : 31);
  for (double& t : all) t = once();
  std::sort(all.begin(), all.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return {all[all.size() / 2], all.front(), all.back()};
}

template <class Real>
std::vector<Real> random_vector(Index n, std::uint64_t seed) {
  std::vector<Real> v(n);
#pragma omp parallel for
  for (Index i = 0; i < n; ++i) v[i] = Real(2 * uniform(seed, i) - 1);
  return v;
}

/// The definition, row after row.
template <class Real>
void serial_sweep(const CsrView<Real, std::int32_t, Host>& A, bool forward, const Real* b, Real* x, Real omega) {
  for (Index k = 0; k < A.nrows; ++k) {
    const Index i = forward ? k : A.nrows - 1 - k;
    const std::int32_t diagonal =
        std::int32_t(std::lower_bound(A.col_idx.data() + A.row_ptr[i], A.col_idx.data() + A.row_ptr[i + 1], i) - A.col_idx.data());
    const Real t = b[i] - lower_part(A, i, diagonal, x).sum(), upper = upper_part(A, i, diagonal, x).sum();
    x[i] = swept(t, upper, Real(1) / A.values[diagonal], omega, x[i]);
  }
}

/// One thing to compute both ways: from b[which], from a guess or zero.
template <class Real>
struct Case {
  const char* name;
  int rhs, forward, backward, count;  // sweeps of each in turn, count times
  bool from_zero;
  Real omega;
  std::vector<Real> expected;
};

template <class Real>
bool differs(const std::vector<Real>& x, const std::vector<Real>& expected, const char* matrix, const char* what) {
  if (std::memcmp(x.data(), expected.data(), x.size() * sizeof(Real)) == 0) return false;
  std::int64_t rows = 0, first = -1;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::memcmp(&x[i], &expected[i], sizeof(Real)) != 0 && rows++ == 0) first = std::int64_t(i);
  std::printf("WRONG %s, %s: %lld rows, the first %lld: %.17g, expected %.17g\n", matrix, what, (long long)rows, (long long)first,
              double(x[first]), double(expected[first]));
  ++wrong_results;
  return true;
}

/// All entry points against the definition; true if all bits agree.
template <class Real>
bool agrees(const Cuda& on, const Matrix<Real>& A, const NaturalSweep<Real>& S, const char* matrix, bool all) {
  const Index n = A.nrows;
  const std::vector<Real> rhs[2] = {random_vector<Real>(n, 31), random_vector<Real>(n, 32)}, guess = random_vector<Real>(n, 33);
  std::vector<Case<Real>> cases = {{"from zero", 0, 1, 1, 1, true, 1, {}},    {"from zero", 1, 1, 1, 1, true, 1, {}},
                                   {"forward", 0, 1, 0, 1, false, 1, {}},     {"backward", 1, 0, 1, 1, false, Real(1.3), {}},
                                   {"pair", 0, 1, 1, 1, false, Real(0.9), {}}};
  if (all) {
    cases.push_back({"three pairs from zero", 1, 1, 1, 3, true, Real(1.2), {}});
    cases.push_back({"three pairs", 0, 1, 1, 3, false, 1, {}});
    cases.push_back({"forward, relaxed", 1, 1, 0, 1, false, Real(1.1), {}});
    cases.push_back({"backward", 0, 0, 1, 1, false, 1, {}});
  }
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t c = 0; c < cases.size(); ++c) {
    Case<Real>& it = cases[c];
    it.expected = it.from_zero ? std::vector<Real>(n, Real(0)) : guess;
    for (int k = 0; k < it.count; ++k) {
      if (it.forward) serial_sweep(A.view(), true, rhs[it.rhs].data(), it.expected.data(), it.omega);
      if (it.backward) serial_sweep(A.view(), false, rhs[it.rhs].data(), it.expected.data(), it.omega);
    }
  }
  const Array<Real, Device> b[2] = {Array<Real, Device>(rhs[0]), Array<Real, Device>(rhs[1])};
  Array<Real, Device> x(n);
  std::vector<Real> got(n);
  bool good = true;
  for (int round = 0; round < 4; ++round)  // results of one call must not serve the next
    for (const Case<Real>& it : cases) {
      copy_bytes(Device{}, x.data(), Host{}, guess.data(), n * std::int64_t(sizeof(Real)));
      const Real* rhs_now = b[it.rhs].data();
      if (it.from_zero)
        S.pairs_from_zero(rhs_now, x.data(), it.omega, it.count);
      else if (it.forward && it.backward)
        S.pairs(rhs_now, x.data(), it.omega, it.count);
      else
        it.forward ? S.forward(rhs_now, x.data(), it.omega) : S.backward(rhs_now, x.data(), it.omega);
      S.check();
      copy_bytes(Host{}, got.data(), Device{}, x.data(), n * std::int64_t(sizeof(Real)));
      good &= !differs(got, it.expected, matrix, it.name);
    }
  // A NaN is a value: it spreads to what depends on it, and nothing waits for it.
  std::vector<Real> poisoned = rhs[0];
  std::memset(&poisoned[n / 2], 0xff, sizeof(Real));
  const Array<Real, Device> nan(poisoned);
  S.pairs_from_zero(nan.data(), x.data());
  S.check();
  copy_bytes(Host{}, got.data(), Device{}, x.data(), n * std::int64_t(sizeof(Real)));
  if (!std::isnan(got[n / 2])) std::printf("WRONG %s: a NaN in b vanished\n", matrix), ++wrong_results, good = false;
  on.synchronize();
  return good;
}

void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw BackendError(cusparseGetErrorString(status));
}
/// cuSPARSE's triangular solve with one triangle of A and its diagonal; ms of the analysis and of a solve.
template <class Real>
std::pair<double, Time> spsv(const Cuda& on, const Csr<Real, std::int32_t, Device>& A, bool lower) {
  static cusparseHandle_t handle = nullptr;
  if (!handle) check(cusparseCreate(&handle));
  check(cusparseSetStream(handle, on.stream()));
  const auto type = sizeof(Real) == 8 ? CUDA_R_64F : CUDA_R_32F;
  const Array<Real, Device> b(random_vector<Real>(A.nrows, 21));
  Array<Real, Device> x(A.nrows);
  cusparseSpMatDescr_t M;
  cusparseDnVecDescr_t B, X;
  cusparseSpSVDescr_t solve;
  check(cusparseCreateCsr(&M, A.nrows, A.nrows, A.nnz(), const_cast<std::int32_t*>(A.row_ptr.data()), const_cast<Index*>(A.col_idx.data()),
                          const_cast<Real*>(A.values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
  auto side = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  auto diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  check(cusparseSpMatSetAttribute(M, CUSPARSE_SPMAT_FILL_MODE, &side, sizeof side));
  check(cusparseSpMatSetAttribute(M, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
  check(cusparseCreateDnVec(&B, A.nrows, const_cast<Real*>(b.data()), type));
  check(cusparseCreateDnVec(&X, A.nrows, x.data(), type));
  check(cusparseSpSV_createDescr(&solve));
  const Real one = 1;
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  std::size_t bytes = 0;
  check(cusparseSpSV_bufferSize(handle, plain, &one, M, B, X, type, CUSPARSE_SPSV_ALG_DEFAULT, solve, &bytes));
  Array<std::byte, Device> buffer{std::int64_t(bytes)};
  on.synchronize();
  const auto start = std::chrono::steady_clock::now();
  check(cusparseSpSV_analysis(handle, plain, &one, M, B, X, type, CUSPARSE_SPSV_ALG_DEFAULT, solve, buffer.data()));
  on.synchronize();
  const double analysis = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  const Time t = timed(on, [&] { check(cusparseSpSV_solve(handle, plain, &one, M, B, X, type, CUSPARSE_SPSV_ALG_DEFAULT, solve)); });
  check(cusparseSpSV_destroyDescr(solve));
  check(cusparseDestroySpMat(M));
  check(cusparseDestroyDnVec(B));
  check(cusparseDestroyDnVec(X));
  return {analysis, t};
}

std::string text(const char* format, auto... values) {
  char s[512];
  std::snprintf(s, sizeof s, format, values...);
  return s;
}

/// NAME, or NAME/colours: its rows gathered by colour.
template <class Real>
Matrix<Real> ordered_matrix(const std::string& name) {
  const auto slash = name.find("/colours");
  Matrix<Real> A = matrix<Real>(name.substr(0, slash));
  if (slash == std::string::npos) return A;
  const OpenMP all;
  return permuted(all, std::as_const(A).view(), colour_order(greedy_colours(all, std::as_const(A).view())).span());
}

template <class Real>
void measure(const Cuda& on, const std::string& name) {
  const auto start = std::chrono::steady_clock::now();
  const Matrix<Real> A = ordered_matrix<Real>(name);
  const auto on_device = copied_to<Device>(A.view());
  const Index n = A.nrows;
  std::printf("\n%s, %d-byte values: n %d, nnz %lld (made in %.1f s)\n", name.c_str(), int(sizeof(Real)), n, (long long)A.nnz(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  const auto analysed = [&](NaturalOptions options) {
    const auto begin = std::chrono::steady_clock::now();
    NaturalSweep<Real> S(on, on_device.view(), options);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    return std::pair(std::move(S), ms);
  };
  analysed({});  // loads code
  auto [S, analysis] = analysed({});
  const NaturalReport& r = S.report();
  std::printf("  wavefronts %lld, node %d, slices %lld, places %.3f n, widest %d %d%s%s, %.2f GB\n", (long long)r.wavefronts, r.node, (long long)r.slices,
              double(r.places) / n, r.widest[0], r.widest[1], r.mixed ? ", mixed" : "", r.long_rows ? ", long rows" : "", r.bytes * 1e-9);
  std::printf("  analysis %.2f ms: examine %.2f wavefronts %.2f order %.2f layout %.2f fill %.2f\n", analysis, 1e3 * r.examine_seconds,
              1e3 * r.wavefront_seconds, 1e3 * r.order_seconds, 1e3 * r.layout_seconds, 1e3 * r.fill_seconds);
  const auto before_update = std::chrono::steady_clock::now();
  S.update_values(on_device.view());
  std::printf("  new values alone %.2f ms\n", std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before_update).count());
  if (profile) {
    const Array<Real, Device> b(random_vector<Real>(n, 31));
    Array<Real, Device> x(n);
    S.pairs_from_zero(b.data(), x.data());
    S.check();
    return;
  }
  const bool good = agrees(on, A, S, name.c_str(), false);
  std::printf("  %s\n", good ? "all bits as in the serial sweep" : "WRONG");

  const Array<Real, Device> b(random_vector<Real>(n, 31)), b_places(random_vector<Real>(Index(r.places), 31));
  Array<Real, Device> x(n), x_places(r.places);
  const auto show = [&](const char* what, Time t) {
    const double bytes = (4.0 + sizeof(Real)) * (A.nnz() - n) + 7.0 * sizeof(Real) * n;
    std::printf("  %-34s %9.4f ms (%.4f .. %.4f)  %5.0f GB/s, %.3f us a wavefront\n", what, t.ms, t.low, t.high, bytes / t.ms * 1e-6,
                t.ms * 500 / double(r.wavefronts / r.node));
    std::fflush(stdout);
    return t.ms;
  };
  const auto from_zero = [&](const NaturalSweep<Real>& T) { return timed(on, [&] { T.pairs_from_zero(b.data(), x.data()); }); };
  const double own = show("pair from zero", from_zero(S));
  const double places = show("  in the sweep's order", timed(on, [&] { S.pair_in_order(b_places.data(), x_places.data()); }));
  double best = own;
  std::string best_way = "default";
  const auto try_way = [&](const std::string& way, const NaturalSweep<Real>& T) {
    const double ms = show(("  " + way).c_str(), from_zero(T));
    if (ms < best) best = ms, best_way = way;
  };
  if (own < 200 && !quick) {
    NaturalOptions unprepared;
    unprepared.ahead = 0;
    try_way("nothing brought ahead", analysed(unprepared).first);
    for (const float distance : {-1.0f, 2.0f, 4.0f}) {
      NaturalOptions options;
      options.distance = distance;
      try_way(text("distance %g", distance), analysed(options).first);
    }
    if (r.node > 1) {
      NaturalOptions options;
      options.nodes = false;
      try_way("rows as scalars", analysed(options).first);
    }
  }
  const double pair = show("pair from a guess", timed(on, [&] { S.pairs(b.data(), x.data()); }));
  const double four = show("four pairs from zero", timed(on, [&] { S.pairs_from_zero(b.data(), x.data(), 1, 4); }));
  show("forward", timed(on, [&] { S.forward(b.data(), x.data()); }));
  show("backward", timed(on, [&] { S.backward(b.data(), x.data()); }));
  S.check();
  double rival = 0, rival_analysis = 0;
  if (with_spsv) {
    for (const bool lower : {true, false}) {
      const auto [ms, t] = spsv(on, on_device, lower);
      show(lower ? "cuSPARSE SpSV lower" : "cuSPARSE SpSV upper", t);
      rival += t.ms, rival_analysis += ms;
    }
  }
  table.push_back(text("%-18s %d %8lld %3d  %-5s %9.4f %9.4f %9.4f %-16s %9.4f %9.4f  %8.2f %8.4f %6.2f  %8.1f", name.c_str(), int(sizeof(Real)),
                       (long long)r.wavefronts, r.node, good ? "yes" : "WRONG", own, places, best, best_way.c_str(), pair, four / 4, analysis, rival,
                       rival / own, rival_analysis));
}

/// Many small matrices, all entry points: seams of slices, nodes, long parts and blocks.
template <class Real>
void check_small(const Cuda& on) {
  int matrices = 0;
  const auto one = [&](const std::string& name, const Matrix<Real>& A, NaturalOptions options = {}) {
    const auto on_device = copied_to<Device>(A.view());
    const NaturalSweep<Real> S(on, on_device.view(), options);
    agrees(on, A, S, name.c_str(), true);
    ++matrices;
  };
  for (const Index n : {1, 2, 31, 32, 33, 64, 65, 257, 1000}) {
    one(text("chain:%d", n), lattice<Real>(n, 1, 1, true, 1));
    one(text("diagonal:%d", n), random_pattern<Real>(n, 0, 1, true, 1));
    one(text("dense:%d", n), random_pattern<Real>(std::min(n, 300), 2 * n, n, true, 1));
  }
  for (const int dofs : {1, 2, 3, 4, 5, 6})
    for (const bool faces : {true, false}) {
      NaturalOptions scalars;
      scalars.nodes = false;
      one(text("lattice of %d", dofs), lattice<Real>(13, 11, 9, faces, dofs));
      one(text("lattice of %d, scalars", dofs), lattice<Real>(9, 11, 13, faces, dofs), scalars);
      one(text("plane of %d", dofs), lattice<Real>(40, 37, 1, faces, dofs));
    }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Index n = Index(1 + mixed(seed) % 5000);
    const int per = int(1 + mixed(seed + 100) % (seed % 4 == 0 ? 90 : 12));
    const Index reach = Index(1 + mixed(seed + 200) % (seed % 3 == 0 ? 60 : 5000));
    one(text("random %d: %d rows, %d a row, reach %d", int(seed), n, per, reach), random_pattern<Real>(n, per, reach, seed % 2 == 0, seed));
  }
  one("dense rows", with_dense<Real>(24, 9000));
  one("chain with a dense row", from_columns<Real>(70000, [](Index i, std::vector<Index>& list) {
        if (i > 0) list.push_back(i - 1);
        if (i == 69999 || i == 20000)
          for (Index j = 0; j < 70000; ++j) list.push_back(j);
      }));
  std::printf("%d small matrices of %d-byte values checked\n", matrices, int(sizeof(Real)));
}

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  std::vector<std::string> names;
  bool floats = false, small_only = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--quick") quick = true;
    else if (word == "--float") floats = true;
    else if (word == "--no-spsv") with_spsv = false;
    else if (word == "--small") small_only = true;
    else if (word == "--profile") profile = true;
    else names.push_back(word);
  }
  if (names.empty() && !small_only)
    names = {"poisson3d:256", "hpcg:192", "elasticity:96", "graph:128", "farther:128", "wide:200000", "unsymmetric:1000000", "dense:100", "poisson2d:2048", "chain:200000"};
  try {
    const Cuda on;
    std::printf("%s\n", cuda_device_name().c_str());
    if (!profile && !quick) {
      check_small<double>(on);
      check_small<float>(on);
    }
    for (const std::string& name : names) {
      try {
        measure<double>(on, name);
      } catch (const std::exception& e) {
        std::printf("%s: %s\n", name.c_str(), e.what());
      }
      if (floats) measure<float>(on, name);
    }
  } catch (const std::exception& e) {
    std::printf("error: %s\n", e.what());
    ++wrong_results;
  }
  std::printf("\n%-18s   %8s %3s  %-5s %9s %9s %9s %-16s %9s %9s  %8s %8s %6s  %8s\n", "pairs, ms", "wavefr.", "nd", "exact", "own order", "sweep's", "best", "(way)", "guess",
              "a further", "analysis", "SpSV l+u", "x", "its anal.");
  for (const std::string& line : table) std::printf("%s\n", line.c_str());
  std::printf("%d wrong\n", wrong_results);
  return wrong_results != 0;
}
