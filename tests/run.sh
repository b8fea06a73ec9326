#!/usr/bin/env bash
# Builds seidel and runs all its tests. Installs what is missing for that, and says so.
#
#   tests/run.sh [PRESET] [-DNAME=VALUE...]     PRESET: cpu, cuda, mpi, asan, tsan; default: cuda if there is an nvcc, otherwise cpu
#
# Tests of MPI run with mpi, and with cpu and cuda where mpicxx and mpirun are installed; else they are skipped, and the output says so.
# The last line is "N passed, N failed, N skipped"; the exit status is 0 if none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. cmake/install_missing.sh

preset=
case ${1:-} in
  cpu | cuda | mpi | asan | tsan) preset=$1; shift ;;
  "" | -D*) ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
seidel_note_prefix "$@"
if [ "$preset" = mpi ]; then install_missing PROGRAM TESTS MPI; else install_missing PROGRAM TESTS; fi

nvcc=$(seidel_nvcc)
if [ -z "$preset" ]; then preset=$([ -n "$nvcc" ] && echo cuda || echo cpu); fi
options=("$@")
case $preset in
  cpu | cuda) if command -v mpicxx >/dev/null && command -v mpirun >/dev/null; then options=(-DSEIDEL_MPI=ON "${options[@]}"); fi ;;
esac
if [ "$preset" = cuda ]; then
  # One architecture is enough for tests, and halves the compile time.
  if seidel_gpu; then architecture=native; else architecture=90-real; fi
  options=(${nvcc:+-DCMAKE_CUDA_COMPILER="$nvcc"} -DCMAKE_CUDA_ARCHITECTURES="$architecture" "${options[@]}")
fi
if [ "$preset" = tsan ] && ! command -v clang++ >/dev/null && [[ "$*" != *CMAKE_CXX_COMPILER* ]]; then
  echo "The thread sanitizer needs clang 19 or later and its OpenMP: apt-get install clang libomp-dev" >&2
  exit 1
fi

build=build/tests-$preset   # not build/PRESET, where a developer may have changed options
echo "Building in $build (preset $preset)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" -B "$build" "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
grep '^-- seidel:' "$log" || true
start=$SECONDS
cmake --build "$build" -j "$(nproc)" >"$log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\] Building' "$log" >&2; exit 1; }
grep -E 'warning:' "$log" >&2 || true
echo "Built in $((SECONDS - start)) s"

export TSAN_OPTIONS=${TSAN_OPTIONS:-ignore_noninstrumented_modules=1}
status=0
ctest --test-dir "$build" --output-on-failure -j "$(nproc)" --output-junit "$PWD/$build/results.xml" || status=$?
results=$build/Testing/Temporary/LastTest.log
grep -hE '^([0-9]+ CUDA tests skipped|skipped (in this build|here):)' "$results" || true

# A test that prints "its name: N passed, N failed, N skipped" is counted by these numbers; every other test counts as one.
awk -v status="$status" '
  FNR == NR {
    if (/^[a-zA-Z_]+: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
      name = $1; sub(":", "", name)
      counted[name] = 1; passed += $2; failed += $4; skipped += $6; failures[name] = $4
    }
    next
  }
  /<testcase / {
    name = state = $0
    sub(/.*<testcase name="/, "", name); sub(/".*/, "", name)
    sub(/.* status="/, "", state); sub(/".*/, "", state)
    if (counted[name]) failed += (state == "fail" && !failures[name])
    else if (state == "run") ++passed
    else if (state == "fail") ++failed
    else ++skipped
  }
  END {
    if (status && !failed) failed = 1   # a test that could not even start
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
  }
' "$results" "$build/results.xml"
