// Opens cuSPARSE's shared library.
#include <seidel/drivers/bench/rivals/cusparse.hpp>

#include <dlfcn.h>

#include <seidel/drivers/report/format.hpp>

namespace seidel::drivers {

namespace {

/// The shared library of this build's major version; nothing where there is none.
void* library() {
  static void* const opened = [] {
    const std::string name = formatted("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
    void* const found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return opened;
}

}  // namespace

CusparseFunction named(const char* name) {
  if (!library())
    throw ResourceError(
        formatted("libcusparse.so.{} was not found: install the CUDA Toolkit's library cusparse, or put it on "
                  "LD_LIBRARY_PATH",
                  CUSPARSE_VER_MAJOR));
  if (void* const found = dlsym(library(), name)) return {found};
  throw ResourceError(
      formatted("cuSPARSE: the library found has no {}; take that of CUDA {}", name, CUSPARSE_VER_MAJOR));
}

const CusparseFunctions& cusparse() {
  static const CusparseFunctions functions;
  return functions;
}

}  // namespace seidel::drivers
