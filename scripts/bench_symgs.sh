#!/bin/sh
# Builds bench_symgs with nvcc alone (no CMake) and runs it: scripts/bench_symgs.sh [--build] [arguments of bench_symgs.cu].
# --build: only build. ARCH (default native) and BUILD (default build/bench_symgs) may be set.
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build/bench_symgs}
PATH=$PATH:/usr/local/cuda/bin
mkdir -p "$build/include" "$build/generated/seidel"
ln -sfn "$root" "$build/include/seidel"
sed -e 's/@SEIDEL_BUILT_WITH_CUDA@/true/; s/@PROJECT_VERSION@/bench/' "$root/formats/config.hpp.in" >"$build/generated/seidel/config.hpp"
flags="-std=c++20 -O3 --fmad=false --extended-lambda --expt-relaxed-constexpr -arch=${ARCH:-native} -Xcompiler=-ffp-contract=off,-fopenmp -I$build/include -I$build/generated"
sources="scripts/bench_symgs.cu kernels/symgs/cuda_natural.cu kernels/symgs/cuda_natural_wavefronts.cu kernels/symgs/cuda_natural_order.cu
  kernels/symgs/cuda_natural_layout.cu kernels/symgs/cuda_natural_fill.cu kernels/symgs/host.cpp kernels/symgs/wavefronts.cpp kernels/symgs/schedule.cpp
  formats/cuda_backend.cpp formats/backend.cpp formats/errors.cpp formats/memory_host.cpp formats/permute.cpp kernels/symgs/colours.cpp"
objects=
waiting=
for source in $sources; do
  object=$build/$(echo "$source" | tr / _).o
  objects="$objects $object"
  newer=$(find "$root/kernels" "$root/formats" "$root/scripts" -type f -newer "$object" 2>/dev/null | head -1 || true)
  if [ ! -e "$object" ] || [ -n "$newer" ]; then
    nvcc $flags -c "$root/$source" -o "$object" &
    waiting="$waiting $!"
  fi
done
for one in $waiting; do wait "$one"; done
nvcc $flags $objects -o "$build/bench_symgs" -lcusparse
if [ "$1" = --build ]; then exit 0; fi
exec "$build/bench_symgs" "$@"
