// The words every other file uses: index types, memory spaces, and the one macro.
#pragma once
#if __cplusplus < 202002L
#error "seidel needs C++20: compile with -std=c++20"
#include <seidel/needs -std=c++20>  // is not there: no compiler goes on from here to pages of errors
#endif
#include <cstdint>
#include <type_traits>

// Marks a function that both the host and the device run. The only macro of the project.
#ifdef __CUDACC__
#define SEIDEL_HD __host__ __device__
#else
#define SEIDEL_HD
#endif

#ifdef __FAST_MATH__
#error "seidel promises the same bits on every back end: compile without -ffast-math"
#endif

namespace seidel {

/// A row or a column. Places in `values` are `Offset`, 32 or 64 bits; sizes are std::int64_t.
using Index = std::int32_t;

struct Host {};    ///< memory that the processor reads
struct Device {};  ///< memory that the GPU reads

template <class Space>
concept MemorySpace = std::is_same_v<Space, Host> || std::is_same_v<Space, Device>;

}  // namespace seidel
