// Answers copied and compared, by all threads.
#include <seidel/drivers/bench/kernel.hpp>

#include <atomic>
#include <cstring>

#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

Answer Answer::copied() const {
  Answer copy;
  for (const Numbers& numbers : arrays_)
    std::visit([&](const auto& from) { copy.own(copied_to<Host>(OpenMP{1}, from)); }, numbers);
  return copy;
}

bool same_bits(const Answer& a, const Answer& b) {
  if (a.arrays_.size() != b.arrays_.size()) return false;
  std::atomic<bool> same = true;
  for (std::size_t i = 0; i < a.arrays_.size(); ++i)
    std::visit(
        [&]<class T>(HostSpan<const T> x) {
          const auto y = b.array<T>(i);
          if (x.size() != y.size()) same = false;
          if (!same || x.empty()) return;
          parallel_for(OpenMP{}, x.size(), [&](std::int64_t first, std::int64_t last) {
            if (std::memcmp(x.data() + first, y.data() + first, std::size_t(last - first) * sizeof(T)) != 0)
              same = false;
          });
        },
        a.arrays_[i]);
  return same;
}

}  // namespace seidel::drivers
