// Memory of the GPU: who owns it, scopes of temporary memory, copies.
#include "../backends.hpp"

#include <map>
#include <numeric>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/scratch.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// 0, 1, 2, ... as bytes that differ from piece to piece.
std::vector<std::uint32_t> counting(std::int64_t n) {
  std::vector<std::uint32_t> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 12345u);
  return v;
}

template <class T>
std::vector<T> brought_back(const Cuda& on, Span<const T, Device> from) {
  std::vector<T> to(static_cast<std::size_t>(from.size()), T(7));
  copy(on, from, Span<T, Host>(to.data(), from.size()));
  return to;
}

/// Counts what is taken and given back. What was given back is kept: work that uses it may be under way.
class CountingAllocator final : public DeviceAllocator {
 public:
  void* allocate(std::int64_t bytes, CUstream_st*) override {
    Array<std::byte, Device> taken(own_, bytes);
    own_.synchronize();
    void* const p = taken.data();
    held.emplace(p, std::move(taken));
    ++calls;
    return p;
  }
  void release(void* p, std::int64_t bytes, CUstream_st*) noexcept override {
    const auto found = held.find(p);
    if (found == held.end() || found->second.size() != bytes) return void(++wrong);
    given_back_.push_back(std::move(found->second));
    held.erase(found);
  }
  std::int64_t available() const override { return available_bytes(own_); }

 private:
  Cuda own_;

 public:
  std::map<void*, Array<std::byte, Device>> held;
  int calls = 0, wrong = 0;

 private:
  std::vector<Array<std::byte, Device>> given_back_;
};

}  // namespace

TEST_CASE("scratch memory of the host is apart from what is held") {
  Scratch scratch{OpenMP{2}};
  const auto a = scratch.take<int>(100), b = scratch.take<int>(100);
  std::fill(a.begin(), a.end(), 1);
  std::fill(b.begin(), b.end(), 2);
  CHECK(a[99] == 1);
  CHECK(scratch.take<double>(0).size() == 0);
}

TEST_CASE("[cuda] an inner scope of scratch memory never touches what an outer one holds, and a loop allocates once") {
  const auto memory = std::make_shared<CountingAllocator>();
  const Cuda on(CudaSettings{.memory = memory});
  Scratch outer(on);
  const auto a = outer.take<std::uint32_t>(1000);
  copy(on, Span<const std::uint32_t, Host>(counting(1000).data(), 1000), a);
  int calls = 0;
  for (int turn = 0; turn < 5; ++turn) {
    if (turn == 1) calls = memory->calls;
    Scratch inner(on);
    const auto b = inner.take<std::uint32_t>(3'000'000), c = inner.take<std::uint32_t>(10);
    const std::vector<std::uint32_t> ones(3'000'000, 1), twos(10, 2);
    copy(on, Span<const std::uint32_t, Host>(ones.data(), 3'000'000), b);
    copy(on, Span<const std::uint32_t, Host>(twos.data(), 10), c);
    {
      Scratch innermost(on);
      const auto d = innermost.take<std::uint32_t>(500'000);
      copy(on, Span<const std::uint32_t, Host>(ones.data(), 500'000), d);
    }
    CHECK(brought_back<std::uint32_t>(on, c) == twos);
    CHECK(brought_back<std::uint32_t>(on, b) == ones);
  }
  CHECK(memory->calls == calls);
  CHECK(brought_back<std::uint32_t>(on, a) == counting(1000));
  CHECK(std::uintptr_t(a.data()) % 256 == 0);
}

TEST_CASE("[cuda] a caller's allocator gives all memory, and gets it back") {
  const auto memory = std::make_shared<CountingAllocator>();
  {
    const Cuda on(CudaSettings{.memory = memory});
    Array<double, Device> x(on, 1000), moved = std::move(x);
    Array<double, Device> other(on, std::vector<double>{1, 2, 3});
    other = std::move(moved);
    other.truncate(10);
    const Array<double, Device> none(on, 0);
    CHECK(memory->calls == 2);
    Scratch scratch(on);
    scratch.take<int>(5);
    CHECK(memory->calls == 3);
  }
  CHECK(memory->held.empty());
  CHECK(memory->wrong == 0);
}

TEST_CASE("[cuda] copies of any size arrive whole, in both directions") {
  const Cuda on;
  const std::int64_t piece = (8 << 20) / 4;
  for (const std::int64_t n : {std::int64_t(0), std::int64_t(1), piece / 2 - 1, piece / 2, piece / 2 + 1, piece - 1,
                               piece, piece + 1, 3 * piece, 3 * piece + 1, 7 * piece + 5}) {
    CAPTURE(n);
    const auto from = counting(n);
    Array<std::uint32_t, Device> there(on, n), again(on, n);
    copy(on, Span<const std::uint32_t, Host>(from.data(), n), there.span());
    copy_bytes(on, Device{}, again.data(), Device{}, there.data(), 4 * n);
    CHECK(brought_back<std::uint32_t>(on, again) == from);
  }
  Array<int, Device> three(on, 3);
  const std::vector<int> two(2);
  CHECK_THROWS_AS(copy(on, Span<const int, Host>(two.data(), 2), three.span()), ShapeError);
}

TEST_CASE("[cuda] memory that was given back is there again, and too much is a ResourceError that leaves no trace") {
  const Cuda on;
  const std::int64_t quarter = available_bytes(Device{}) / 4;
  for (int turn = 0; turn < 8; ++turn) CHECK_NOTHROW((Array<std::byte, Device>(on, quarter)));
  CHECK_THROWS_AS((Array<std::byte, Device>(on, std::int64_t(1) << 50)), ResourceError);
  CHECK_THROWS_AS(Scratch(on).take<std::byte>(std::int64_t(1) << 50), ResourceError);
  CHECK_NOTHROW(on.synchronize());
}

TEST_CASE("copies on several threads of the host are whole") {
  for (const std::int64_t n : {0, 1, 65535, 65536, 1000003}) {
    const auto from = counting(n);
    for (const int threads : {1, 2, 3, 7}) {
      std::vector<std::uint32_t> to(from.size());
      copy_bytes(OpenMP{threads}, Host{}, to.data(), Host{}, from.data(), 4 * n);
      CHECK(to == from);
    }
  }
}
