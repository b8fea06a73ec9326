// Temporary memory of a back end, in scopes.
#pragma once
#include <vector>

#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// Memory for the duration of a scope: what take() gave is given back, all at once, when the Scratch ends. Scopes nest:
/// an inner one never touches what an outer one holds. They end in the opposite order of their beginning.
///
///   Scratch scratch(on);
///   const auto t = scratch.take<double>(n);   // uninitialised
///
/// Cost    On a GPU it is cut from memory that the back end keeps, so it allocates only where more is held at the same
///         time than ever before: a loop allocates in its first turn at most. On the host it is taken and given back.
/// Errors  ResourceError with the bytes asked for.
template <class B>
class Scratch {
 public:
  explicit Scratch(const B&) {}
  template <class T>
  Span<T, Host> take(std::int64_t n) {
    taken_.emplace_back(n * std::int64_t(sizeof(T)));
    return {reinterpret_cast<T*>(taken_.back().data()), n};
  }

 private:
  std::vector<Array<std::byte>> taken_;
};

template <>
class Scratch<Cuda> {
 public:
  explicit Scratch(const Cuda& on);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  template <class T>
  Span<T, Device> take(std::int64_t n) {
    return {static_cast<T*>(take_bytes(n * std::int64_t(sizeof(T)))), n};
  }

 private:
  void* take_bytes(std::int64_t bytes);

  std::shared_ptr<CudaState> state_;
  [[maybe_unused]] std::int64_t chunk_, used_;  // how far the memory was in use when this scope began
};

/// Gives back what Scratch has kept so far, if none of it is in use. What is taken next is taken anew. For
/// after a step that needs much of it once, where memory is short.
inline void release_scratch(const OpenMP&) {}
void release_scratch(const Cuda& on);

/// `count` counters in device memory that are 0, for kernels whose blocks wait for nothing, but act when they are the last of
/// several. A kernel that changes some leaves them at 0 for the next one on the stream, which may use the same.
/// Cost  allocates where more are asked for than ever before. Errors  ResourceError with the bytes asked for.
Index* zero_counters(const Cuda& on, std::int64_t count);

}  // namespace seidel
