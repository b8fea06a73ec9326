include(CheckCXXCompilerFlag)

# seidel_precompile(TARGET [HEADER...]): parsing the standard library is half the time of compiling a small file, so it is done once a target.
# Not under a compiler launcher: a cache of objects saves more, and few caches can look through precompiled headers.
function(seidel_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  set(headers algorithm atomic cmath cstdint functional limits memory string string_view type_traits utility vector ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # from precompiled headers it tells its own false alarms about std::string
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overread;-Wno-stringop-overflow>")
    # From version 13 on -O2 and -O3 include these; sources with -O1 may use their headers only if they have them, too.
    if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
      foreach(option -munroll-only-small-loops -mvzeroupper)
        check_cxx_compiler_flag(${option} SEIDEL_CXX_HAS${option})
        if(SEIDEL_CXX_HAS${option})
          target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${option}>)
        endif()
      endforeach()
    endif()
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
