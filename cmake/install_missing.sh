# Sourced by quickstart.sh and tests/run.sh:  install_missing PROGRAM|TESTS|MPI...  makes sure that seidel can be built here.
# Only what is missing is installed, with apt, as root or through sudo; if nothing is missing, apt is not called.

# The C++ compiler that CMake will use.
seidel_compiler() {
  local c
  for c in "${CXX:-}" c++ g++ clang++; do
    if [ -n "$c" ] && command -v "$c" >/dev/null; then echo "$c"; return; fi
  done
}

# Folders that may hold headers: those in CMAKE_PREFIX_PATH, from the environment (with :) or a -D option (with ;).
seidel_include_options() {
  local folder
  while read -r folder; do
    [ -n "$folder" ] && printf '%s\n' "-I$folder" "-I$folder/include" "-I$folder/include/eigen3"
  done < <(printf '%s\n' "${CMAKE_PREFIX_PATH:-}:${SEIDEL_PREFIX_PATH:-}" | tr ':;' '\n\n')
  echo -I/usr/include/eigen3
}

# Whether the compiler finds the header, however it was installed.
seidel_has_header() {
  local compiler options
  compiler=$(seidel_compiler)
  [ -n "$compiler" ] || return 1
  mapfile -t options < <(seidel_include_options)
  echo "#include <$1>" | "$compiler" -std=c++20 -E -x c++ "${options[@]}" - >/dev/null 2>&1
}

# Names of the missing Debian packages (Ubuntu has the same names), one per line, for PROGRAM, TESTS and MPI.
seidel_missing() {
  local what pair
  [ -n "$(seidel_compiler)" ] || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  local headers="zlib.h=zlib1g-dev fmt/format.h=libfmt-dev fast_float/fast_float.h=libfast-float-dev"
  for what in "$@"; do
    case $what in
      PROGRAM) headers+=" CLI/CLI.hpp=libcli11-dev nlohmann/json.hpp=nlohmann-json3-dev Eigen/Sparse=libeigen3-dev" ;;
      TESTS) headers+=" doctest/doctest.h=doctest-dev" ;;
      MPI) command -v mpicxx >/dev/null || echo libopenmpi-dev; command -v mpirun >/dev/null || echo openmpi-bin ;;
    esac
  done
  for pair in $headers; do
    seidel_has_header "${pair%%=*}" || echo "${pair#*=}"
  done
}

install_missing() {
  local missing as_root=()
  mapfile -t missing < <(seidel_missing "$@")
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if ! command -v apt-get >/dev/null; then
    echo "Missing, by their Debian names: ${missing[*]}" >&2
    echo "  install them with the package manager of this system, or name a folder with the headers: -DCMAKE_PREFIX_PATH=FOLDER" >&2
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing: ${missing[*]}" >&2
      echo "  to install them you need root, and there is no sudo; as root: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing what is missing, with apt: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
  local install=(install -y --no-install-recommends "${missing[@]}") log
  log=$(mktemp)
  # Package lists are fetched only if they lack a package or are too old.
  if apt-get -s "${install[@]}" >/dev/null 2>&1; then
    "${apt[@]}" "${install[@]}" >"$log" 2>&1 || echo "  this failed; trying again with fresh package lists"
  else
    echo "  fetching apt's package lists first"
  fi
  if [ -n "$(seidel_missing "$@")" ] && ! { "${apt[@]}" update && "${apt[@]}" "${install[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "apt could not install them; as root, try: apt-get update && apt-get install ${missing[*]}" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
  mapfile -t missing < <(seidel_missing "$@")
  if [ ${#missing[@]} -ne 0 ]; then
    echo "Installed, but still not found: ${missing[*]} (compiler: $(seidel_compiler))" >&2
    return 1
  fi
}

# nvcc of a CUDA Toolkit that supports C++20 (12 or later), or nothing.
seidel_nvcc() {
  local nvcc major
  nvcc=$(command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }) || return 0
  major=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  if [ "${major:-0}" -ge 12 ]; then echo "$nvcc"; else echo "(CUDA ${major:-?} at $nvcc is too old for C++20: 12 or later is needed)" >&2; fi
}

# Whether there is a GPU for CUDA.
seidel_gpu() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }; }

# Remembers -DCMAKE_PREFIX_PATH=... of the command line.
seidel_note_prefix() {
  local argument
  for argument in "$@"; do
    case $argument in
      -DCMAKE_PREFIX_PATH=*) SEIDEL_PREFIX_PATH=${argument#*=} ;;
      -DCMAKE_PREFIX_PATH:*=*) SEIDEL_PREFIX_PATH=${argument#*=} ;;
    esac
  done
}
