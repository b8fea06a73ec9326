// Which back ends; poison, run, judge, time.
#include <seidel/drivers/bench/measure.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

constexpr double max_seconds = 3;

/// Overwrites more than the caches of the host. One serves all rivals: for a cache of 300 MB, taking its memory takes longer
/// than a trial.
class HostFlush {
 public:
  void operator()(const OpenMP& on) {
    if (wipe_.empty()) wipe_ = Array<double>(2 * last_level_cache_bytes() / 8);
    parallel_for(on, wipe_.size(), [w = wipe_.data(), v = ++value_](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) w[i] = v;
    });
  }

 private:
  Array<double> wipe_;
  double value_ = 0;
};

bool stopped(const Plan& plan) { return plan.stop && *plan.stop; }

Sample timed(const Prepared& prepared, BackendName backend, bool flush, HostFlush& flush_host, const Plan& plan,
             const Where& where) {
  const bool on_device = backend == BackendName::cuda;
  const auto once = [&] { return on_device ? cuda_seconds_of(*where.cuda, prepared.run) : seconds_of(prepared.run); };
  once();
  Sample sample;
  const Stopwatch watch;  // of all that is done, overwriting caches too
  for (int t = 0; t < plan.trials && (t < 3 || watch.seconds() < max_seconds) && !stopped(plan); ++t) {
    // By the threads of the rival, since others would keep spinning beside it. What idle cores keep in their own caches does
    // not matter: when all threads overwrote, serial SpMV of poisson3d:24 and 40 took the same time on two cores.
    if (flush) on_device ? flush_device_cache(*where.cuda) : flush_host(where.openmp);
    sample.add(once());
  }
  return sample;
}

/// What the first rival that promises exact bits left, and how it was judged.
struct Reference {
  Answer answer;
  double error = 0;
};

/// Runs the rival once on poisoned output and judges what it left. An answer with the bits of the reference has its error.
void check(const Task& task, const Rival& rival, const Prepared& prepared, const Where& where, Reference& reference,
           Measurement& m) {
  prepared.poison();
  prepared.run();
  if (rival.backend == BackendName::cuda) where.cuda->synchronize();
  const Answer found = prepared.answer();
  const bool exact = rival.role == Role::exact;
  const bool same = !reference.answer.empty() && same_bits(reference.answer, found);
  m.error = same ? reference.error : task.error(found);
  if (!(m.error <= 1)) {
    m.verdict = Verdict::wrong;
    m.reason = std::isnan(m.error)   ? "NaN, or entries never written"
               : std::isinf(m.error) ? "an entry is off where nothing is rounded"
                                     : formatted("error {:.3g} times what rounding allows", m.error);
  } else if (exact && reference.answer.empty()) {
    reference = {found.copied(), m.error};  // trials run over what it saw
  } else if (exact && !same) {
    m.verdict = Verdict::wrong;
    m.reason = "its bits differ from the serial default's";
  }
}

/// A rival, and on how many threads.
using Job = std::pair<const Rival*, int>;

/// What exact rivals must equal is always run, first, and reported only where it was asked for.
std::vector<Job> jobs_of(const Kernel& kernel, const Plan& plan, std::span<const Rival> among) {
  std::vector<Job> jobs;
  const BackendName side = plan.selection.wants(BackendName::serial) ? BackendName::serial : BackendName::openmp;
  const auto reference = std::find_if(among.begin(), among.end(), [&](const Rival& rival) {
    return rival.kernel == &kernel && rival.role == Role::exact && rival.backend == side;
  });
  if (reference != among.end() && !plan.selection.wants(*reference))
    jobs.push_back({&*reference, side == BackendName::serial ? 1 : OpenMP{}.threads});
  for (const Rival& rival : among) {
    const bool can_run = rival.backend != BackendName::cuda || plan.cuda;
    if (rival.kernel != &kernel || !can_run || !plan.selection.wants(rival)) continue;
    for (const int threads : threads_for(rival.backend, plan.threads)) jobs.push_back({&rival, threads});
  }
  return jobs;
}

}  // namespace

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

std::string_view to_string(Verdict v) {
  return v == Verdict::right ? "right" : v == Verdict::wrong ? "WRONG" : "refused";
}
std::string_view to_string(Cache cache) {
  return cache == Cache::cold ? "cold" : cache == Cache::warm ? "warm" : "large";
}

std::string Rival::name() const {
  return formatted("{}.{}.{}{}{}", kernel->name, format, to_string(backend), variant.empty() ? "" : ".", variant);
}

bool matches(std::string_view pattern, std::string_view name) {
  if (const auto comma = pattern.find(','); comma != pattern.npos)
    return matches(pattern.substr(0, comma), name) || matches(pattern.substr(comma + 1), name);
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) && matches(pattern.substr(1), name.substr(1));
}

std::vector<int> threads_for(BackendName backend, const std::vector<int>& asked) {
  return backend == BackendName::openmp ? asked : std::vector<int>{1};
}

Plan plan_for(const CommonOptions& options, std::vector<int> thread_counts) {
  require_backend(options);
  Plan plan;
  plan.threads = thread_counts.empty() ? std::vector<int>{host_threads(options).threads} : std::move(thread_counts);
  if (options.backend != BackendName::automatic) plan.selection.backends = {options.backend};
  if (options.backend == BackendName::cuda ||
      (options.backend == BackendName::automatic && cuda_unavailable_because().empty()))
    plan.cuda.emplace();
  return plan;
}

std::string machine_text(const Plan& plan) {
  const int used = plan.selection.wants(BackendName::openmp)   ? std::ranges::max(plan.threads)
                   : plan.selection.wants(BackendName::serial) ? 1
                                                               : 0;
  return formatted("{}, {}{}, {}{}", processor_name(), used ? plural(used, "thread") + " on " : "",
                   plural(available_threads(), "core"), instruction_set_name(),
                   plan.cuda ? "; " + cuda_device_name() : "");
}

Json machine_json(const Plan& plan) {
  Json machine;
  machine.set("processor", processor_name()).set("instruction_set", instruction_set_name());
  machine.set("cores", available_threads());
  machine.set("gpu", plan.cuda ? Json(cuda_device_name()) : Json(nullptr)).set("version", version);
  return machine;
}

std::vector<Measurement> measure(const Kernel& kernel, Operand& operand, const TaskOptions& options, const Plan& plan,
                                 std::span<const Rival> among) {
  const auto task = kernel.make(operand, options);
  const std::vector<Job> jobs = jobs_of(kernel, plan, among);
  std::vector<Measurement> found;
  HostFlush flush_host;
  Reference reference;
  int done = 0;
  for (const auto& [rival, threads] : jobs) {
    if (stopped(plan)) return found;
    const Where where{OpenMP{threads}, plan.cuda ? &*plan.cuda : nullptr};
    const bool wanted = plan.selection.wants(*rival);
    Measurement m{.operand = operand.name,
                  .description = operand.description,
                  .rows = operand.rows,
                  .options = options,
                  .rival = rival,
                  .threads = threads,
                  .flops = task->flops,
                  .bytes = task->bytes,
                  .bytes_model = task->bytes_model};
    plan.progress(done++, int(jobs.size()), formatted("{} {}", rival->name(), operand.name));
    try {
      const Prepared prepared = rival->prepare(*task, where);
      m.setup_seconds = prepared.setup_seconds, m.workspace_bytes = prepared.workspace_bytes;
      check(*task, *rival, prepared, where, reference, m);
      const std::int64_t cache = rival->backend == BackendName::cuda ? device_cache_bytes() : last_level_cache_bytes();
      m.cache = task->bytes >= 4 * double(cache) ? Cache::large : plan.warm ? Cache::warm : Cache::cold;
      if (m.verdict == Verdict::right && plan.trials > 0 && wanted)
        m.sample = timed(prepared, rival->backend, m.cache == Cache::cold, flush_host, plan, where);
    } catch (const ResourceError& refusal) {
      m.verdict = Verdict::refused, m.reason = refusal.what();
    } catch (const InputError& refusal) {
      m.verdict = Verdict::refused, m.reason = refusal.what();
    }
    if (wanted || m.verdict == Verdict::wrong) found.push_back(std::move(m));
  }
  return found;
}

}  // namespace seidel::drivers
