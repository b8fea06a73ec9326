// Scratch memory given back before its back end ends.
#pragma once
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// Gives back what Scratch (scratch.hpp) has kept so far, if none of it is in use. What is taken next is taken anew. For
/// after a step that needs much of it once, where memory is short.
inline void release_scratch(const OpenMP&) {}
void release_scratch(const Cuda& on);

}  // namespace seidel
