# Parsing the standard library is half the time of compiling a small file, so it is done once per target.
# Not under a compiler launcher: a cache of objects saves more, and few caches can look through precompiled headers.
include(CheckCXXCompilerFlag)

# What a target needs so that GNU takes its precompiled headers.
function(seidel_precompiled_options target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  # From precompiled headers it tells its own false alarms about std::string.
  set(options -Wno-array-bounds -Wno-restrict -Wno-stringop-overread -Wno-stringop-overflow)
  # From version 13 on -O2 and -O3 include these; sources with -O1 may use their headers only if they have them, too.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    foreach(option -munroll-only-small-loops -mvzeroupper)
      check_cxx_compiler_flag(${option} SEIDEL_CXX_HAS${option})
      if(SEIDEL_CXX_HAS${option})
        list(APPEND options ${option})
      endif()
    endforeach()
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
endfunction()

# seidel_precompile(TARGET [HEADER...]): the standard library and these headers.
function(seidel_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  set(headers algorithm atomic cmath cstdint functional limits memory string string_view type_traits utility vector ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  seidel_precompiled_options(${target})
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# seidel_precompile_as(TARGET OTHER): what is precompiled for another target, whose other options must be the same.
function(seidel_precompile_as target other)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    seidel_precompiled_options(${target})
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
