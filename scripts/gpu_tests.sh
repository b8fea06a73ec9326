#!/usr/bin/env bash
# Builds with CUDA and runs all tests on this machine's GPU; prints a short table last.
#   scripts/gpu_tests.sh [--sanitize] [--architectures 90-real] [--jobs N]
# Needs CUDA 12 or 13, g++, CMake 3.25, ninja or make. Header-only dependencies may lie in ./.deps instead of the system.
# --sanitize runs the CUDA tests under compute-sanitizer's memcheck, racecheck, synccheck and initcheck as well.
set -u -o pipefail
cd "$(dirname "$0")/.."

sanitize=false architectures=native jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize) sanitize=true ;;
    --architectures) architectures=${2:?--architectures needs a value}; shift ;;
    --jobs) jobs=${2:?--jobs needs a value}; shift ;;
    *) echo "$0: unknown option $1; known are --sanitize, --architectures A, --jobs N" >&2; exit 2 ;;
  esac
  shift
done

for folder in /usr/local/cuda/bin /usr/local/cuda-*/bin; do [ -d "$folder" ] && PATH=$PATH:$folder; done
export PATH
command -v nvcc >/dev/null || { echo "$0: no nvcc on the PATH or in /usr/local/cuda/bin: install the CUDA Toolkit" >&2; exit 5; }
nvidia-smi -L >/dev/null 2>&1 || { echo "$0: nvidia-smi finds no GPU" >&2; exit 5; }
[ -d .deps ] && export CMAKE_PREFIX_PATH=$PWD/.deps${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}

build=build/cuda logs=build/gpu_tests
mkdir -p $logs
table=() status=0
# run NAME COMMAND...: its log under $logs, its outcome and seconds in the table.
run() {
  local name=$1 begin=$SECONDS outcome=passed
  shift
  echo "== $name: $*"
  "$@" >"$logs/$name.log" 2>&1 || { outcome="FAILED ($?)"; status=1; tail -n 40 "$logs/$name.log"; }
  grep -E 'test cases:|assertions:|ERROR SUMMARY|RACECHECK SUMMARY|CUDA tests skipped|[0-9]+% tests passed|warning' "$logs/$name.log" | sort -u | tail -n 12
  table+=("$(printf '%-12s %-12s %5d s' "$name" "$outcome" $((SECONDS - begin)))")
}
finish() {
  echo
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1
  printf '%s\n' "${table[@]}"
  exit $status
}

generator=()
command -v ninja >/dev/null || generator=(-G "Unix Makefiles")
run configure cmake --preset cuda "${generator[@]}" -DCMAKE_CUDA_ARCHITECTURES="$architectures"
[ $status = 0 ] || finish
run build cmake --build $build --parallel "$jobs"
[ $status = 0 ] || finish
run tests $build/tests/seidel_tests
run other ctest --test-dir $build --output-on-failure --no-tests=ignore -E '^seidel_tests$'

if $sanitize; then
  # The CUDA tests, and those of all back ends whose names say so. Left out: a fault on purpose, and
  # sizes that take minutes under a tool without showing it anything new.
  chosen='*[cuda]*,*on every back end*'
  left_out='*fault*,*failed allocation*,*partial sums*,*million*,*huge*'
  for tool in memcheck racecheck synccheck initcheck; do
    run $tool timeout 900 compute-sanitizer --tool $tool --target-processes application-only --error-exitcode 9 \
      $build/tests/seidel_tests "-tc=$chosen" "-tce=$left_out"
  done
fi
finish
