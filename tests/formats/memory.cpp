// Where arrays begin.
#include "../matrices.hpp"

#include <cstdint>
#include <vector>

#include <seidel/formats/runtime/array.hpp>

using namespace seidel;

TEST_CASE("host arrays begin at a multiple of 64 bytes, whatever their size, and hold what they should") {
  for (const std::int64_t size : {1, 7, 64, 1000, 8 << 20, (8 << 20) + 1, 20'000'001}) {
    CAPTURE(size);
    Array<char, Host> a(size, 'a');
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
    a[0] = a[size - 1] = 'b';
    CHECK(std::count(a.begin(), a.end(), 'b') == (size == 1 ? 1 : 2));
  }
  CHECK(Array<char, Host>(0).data() == nullptr);
}

TEST_CASE("large host arrays of one size do not begin at the same place of their pages") {
  std::vector<Array<double, Host>> arrays;
  bool differ = false;
  for (int i = 0; i < 4; ++i) {
    arrays.emplace_back(3 << 20);
    differ |= (reinterpret_cast<std::uintptr_t>(arrays.back().data()) ^
               reinterpret_cast<std::uintptr_t>(arrays.front().data())) %
                  4096 !=
              0;
  }
  CHECK(differ);
}
