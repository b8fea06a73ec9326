#!/usr/bin/env bash
# From a fresh clone to a solved system: installs what is missing, builds seidel, solves a real matrix.
#
#   ./quickstart.sh [-DNAME=VALUE...]     options go to CMake, for example -DCMAKE_PREFIX_PATH=FOLDER_OF_HEADERS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. cmake/install_missing.sh

case ${1:-} in
  "" | -D*) ;;
  *) sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
seidel_note_prefix "$@"
install_missing PROGRAM

preset=cpu
options=("$@")
nvcc=$(seidel_nvcc)
if [ -n "$nvcc" ] && seidel_gpu; then
  preset=cuda
  options=(-DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=native "${options[@]}")
  echo "Found a GPU and a CUDA Toolkit: building for CPU and GPU"
elif [ -n "$nvcc" ]; then
  echo "Found a CUDA Toolkit, but no GPU: building for the CPU (for both: cmake --preset cuda && cmake --build --preset cuda)"
fi

echo "Building seidel in build/$preset (a minute or two the first time)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
start=$SECONDS
cmake --preset "$preset" -DSEIDEL_TESTS=OFF "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
cmake --build "build/$preset" -j "$(nproc)" --target seidel_program >"$log" 2>&1 || { grep -vE '^\[[0-9]+/[0-9]+\] Building' "$log" >&2; exit 1; }
echo "Built in $((SECONDS - start)) s"

seidel=build/$preset/seidel
matrix=data/bcsstk16.mtx.gz
echo
echo "bcsstk16 is the stiffness matrix of a dam with 4884 equations (data/README.md names its source). To solve it:"
echo
echo "  \$ $seidel solve $matrix --precond symgs"
echo
"$seidel" solve "$matrix" --precond symgs
echo
echo "The system is solved. Next, look at this matrix or solve your own:"
echo
echo "  export PATH=$PWD/build/$preset:\$PATH   # then you can type \`seidel\` alone"
echo "  seidel info $matrix"
echo "  seidel solve YOUR.mtx --out x.mtx"
