// The same source compiled for three instruction sets, chosen when the program runs.
#pragma once

namespace seidel {

enum class InstructionSet { baseline, avx2, avx512 };

#ifdef __x86_64__

/// The best of this processor.
inline InstructionSet best_instruction_set() {
  static const InstructionSet best = [] {
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    return !avx2 ? InstructionSet::baseline : avx512 ? InstructionSet::avx512 : InstructionSet::avx2;
  }();
  return best;
}

// `flatten` inlines all that `work` calls into a function of the wanted target, so the loop inside is compiled for it. On baseline
// x86-64 std::fma is a library call: right, and about ten times slower (the program says so in its report).
template <class Work>
[[gnu::target("avx2,fma,bmi,bmi2,lzcnt,popcnt"), gnu::flatten, gnu::noinline]] void run_avx2(const Work& work) {
  work();
}
template <class Work>
[[gnu::target("avx2,fma,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512dq,avx512bw"), gnu::flatten, gnu::noinline]] void
run_avx512(const Work& work) {
  work();
}
[[gnu::cold, gnu::flatten, gnu::noinline]] void run_baseline(const auto& work) {  // cold: compiled for size, and sooner
  work();
}

/// Runs work() compiled for the best instruction set of this processor. `work` is a lambda around a loop, without calls
/// that cannot be inlined; OpenMP constructs stay outside of it.
void with_simd(const auto& work) {
  switch (best_instruction_set()) {
    case InstructionSet::avx512: return run_avx512(work);
    case InstructionSet::avx2: return run_avx2(work);
    case InstructionSet::baseline: return run_baseline(work);
  }
}
/// The same without AVX-512, which takes long to compile and gained only in long sums, those of long rows of CSR included
/// (docs/notes/symgs-cpu.md).
void with_avx2(const auto& work) {
  best_instruction_set() == InstructionSet::baseline ? run_baseline(work) : run_avx2(work);
}
/// The same where `work` is long: without AVX2 plain(), which is short, gives the same results.
void with_avx2(const auto& work, const auto& plain) {
  best_instruction_set() == InstructionSet::baseline ? plain() : run_avx2(work);
}

#else

inline InstructionSet best_instruction_set() { return InstructionSet::baseline; }
void with_simd(const auto& work) { work(); }
void with_avx2(const auto& work) { work(); }
void with_avx2(const auto& work, const auto& /*plain*/) { work(); }

#endif

}  // namespace seidel
