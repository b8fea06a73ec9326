# Header-only dependencies, from apt, from another package manager or from a folder of headers
# (-DCMAKE_PREFIX_PATH=FOLDER): only the header is required.

# seidel_find_headers(TARGET HEADER DEBIAN_PACKAGE [SUFFIX])
# Makes the imported target TARGET, or stops with the command that installs what is missing.
function(seidel_find_headers target header package)
  if(TARGET ${target})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "SEIDEL_${package}_HEADERS" place)
  find_path(${place} ${header} PATHS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES ${ARGN})
  mark_as_advanced(${place})
  if(NOT ${place})
    message(FATAL_ERROR "seidel: <${header}> was not found.\n"
      "Install it (Debian, Ubuntu: apt-get install ${package}), "
      "or name a folder that contains it: -DCMAKE_PREFIX_PATH=FOLDER")
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE ${${place}})
endfunction()

seidel_find_headers(FastFloat::fast_float fast_float/fast_float.h libfast-float-dev)
if(SEIDEL_PROGRAM)
  seidel_find_headers(fmt::fmt-header-only fmt/format.h libfmt-dev)
  seidel_find_headers(CLI11::CLI11 CLI/CLI.hpp libcli11-dev)
  seidel_find_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp nlohmann-json3-dev)
endif()
if(SEIDEL_PROGRAM OR SEIDEL_TESTS)
  seidel_find_headers(Eigen3::Eigen Eigen/Sparse libeigen3-dev eigen3)
endif()
if(SEIDEL_TESTS)
  seidel_find_headers(doctest::doctest doctest/doctest.h doctest-dev)
endif()
