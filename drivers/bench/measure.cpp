// Poison, run, judge, time.
#include <seidel/drivers/bench/measure.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <seidel/drivers/bench/cuda_timer.hpp>
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

namespace {

constexpr double max_seconds = 3;

/// Overwrites more than the caches of the host. One serves all rivals: beside a cache of 300 MB to make it takes longer
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
  const auto begin = std::chrono::steady_clock::now();  // of all that is done, overwriting caches too
  const auto used = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  for (int t = 0; t < plan.trials && (t < 3 || used() < max_seconds) && !stopped(plan); ++t) {
    // By the rival's own threads, since others would spin on beside it. More than all caches hold; what idle cores keep
    // in theirs does not show: wiped by all, serial SpMV of poisson3d:24 and 40 took the same on two cores.
    if (flush) on_device ? flush_device_cache(*where.cuda) : flush_host(where.openmp);
    sample.add(once());
  }
  return sample;
}

/// What the first rival of a task left, which is judged, and what the others leave, in memory that is used again.
struct Outputs {
  std::vector<double> exact, found;
  double error = 0;  // of the exact one
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  std::atomic<bool> same = a.size() == b.size();
  parallel_for(OpenMP{}, same ? std::int64_t(a.size()) : 0, [&](std::int64_t first, std::int64_t last) {
    if (std::memcmp(a.data() + first, b.data() + first, std::size_t(last - first) * sizeof(double)) != 0) same = false;
  });
  return same;
}

/// BackendName the rival once on poisoned output and judges what it left. Whose bits are those of the first is as right as it.
void check(const Task& task, const Rival& rival, const Prepared& prepared, const Where& where, Outputs& outputs,
           Measurement& m) {
  prepared.poison();
  prepared.run();
  if (rival.backend == BackendName::cuda) where.cuda->synchronize();
  prepared.output(outputs.found);
  auto& [exact, found, error] = outputs;
  const bool same = !exact.empty() && same_bits(exact, found);
  m.error = same ? error : task.error(found);
  if (!(m.error <= 1)) {
    m.verdict = Verdict::wrong;
    m.reason = std::isnan(m.error)   ? "NaN, or entries never written"
               : std::isinf(m.error) ? "an entry is off where nothing is rounded"
                                     : formatted("error {:.3g} times what rounding allows", m.error);
  } else if (rival.exact && exact.empty()) {
    exact.swap(found), error = m.error;
  } else if (rival.exact && !same) {
    m.verdict = Verdict::wrong;
    m.reason = "its bits differ from the serial default's";
  }
}

Measurement describe(const Task& task, const std::string& name, const Rival& rival, int threads,
                     const RowStatistics& rows) {
  Measurement m;
  m.matrix = name, m.rival = &rival, m.threads = threads;
  m.k = task.k, m.layout = task.layout, m.flops = task.flops, m.bytes = task.bytes, m.bytes_model = task.bytes_model;
  m.nrows = task.A.nrows, m.ncols = task.A.ncols, m.nnz = task.A.nnz(), m.rows = rows;
  return m;
}

}  // namespace

std::string_view to_string(Verdict v) {
  return v == Verdict::right ? "right" : v == Verdict::wrong ? "WRONG" : "refused";
}
std::string_view to_string(Cache cache) {
  return cache == Cache::cold ? "cold" : cache == Cache::warm ? "warm" : "large";
}

std::string Rival::name() const {
  return formatted("{}.{}.{}{}{}", kernel, format, to_string(backend), variant.empty() ? "" : ".", variant);
}

bool matches(std::string_view pattern, std::string_view name) {
  if (const auto comma = pattern.find(','); comma != pattern.npos)
    return matches(pattern.substr(0, comma), name) || matches(pattern.substr(comma + 1), name);
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) && matches(pattern.substr(1), name.substr(1));
}

bool Selection::wants(const Rival& rival) const {
  const bool here = rival.backend == BackendName::serial   ? serial
                    : rival.backend == BackendName::openmp ? openmp
                                                           : cuda;
  return here && matches(only, rival.name());
}

bool any_wrong(const std::vector<Measurement>& measurements) {
  return std::any_of(measurements.begin(), measurements.end(),
                     [](const auto& m) { return m.verdict == Verdict::wrong; });
}

std::vector<Measurement> measure(std::string_view kernel, const std::string& name, const Matrix& A, const Plan& plan,
                                 const Cuda* cuda, std::span<const Rival> among) {
  struct Job {
    const Rival* rival;
    int threads;
  };
  std::vector<Job> jobs;
  // What exact rivals must equal is always run, first, and reported only where it was asked for.
  const BackendName side = plan.selection.serial ? BackendName::serial : BackendName::openmp;
  const auto reference = std::find_if(among.begin(), among.end(), [&](const Rival& rival) {
    return rival.kernel == kernel && rival.exact && rival.backend == side;
  });
  if (reference != among.end() && !plan.selection.wants(*reference))
    jobs.push_back({&*reference, side == BackendName::serial ? 1 : OpenMP{}.threads});
  for (const Rival& rival : among) {
    if (rival.kernel != kernel || (rival.backend == BackendName::cuda && !cuda) || !plan.selection.wants(rival))
      continue;
    for (const int threads : rival.backend == BackendName::openmp ? plan.threads : std::vector<int>{1})
      jobs.push_back({&rival, threads});
  }
  const RowStatistics rows = row_statistics(OpenMP{}, A.view());
  std::vector<Measurement> found;
  HostFlush flush_host;
  int done = 0;
  const int all = int(jobs.size() * plan.k.size() * plan.layouts.size());
  for (const std::int64_t k : plan.k)
    for (const Layout layout : plan.layouts) {
      const Task task = make_task(kernel, A, k, layout, plan.seed);
      Outputs outputs;
      for (const Job& job : jobs) {
        if (stopped(plan)) return found;
        const Where where{OpenMP{job.threads}, cuda};
        Measurement m = describe(task, name, *job.rival, job.threads, rows);
        plan.progress(done++, all, formatted("{} {}", job.rival->name(), name));
        try {
          const Prepared prepared = job.rival->prepare(task, where);
          m.setup_seconds = prepared.setup_seconds, m.workspace_bytes = prepared.workspace_bytes;
          check(task, *job.rival, prepared, where, outputs, m);
          const std::int64_t cache =
              job.rival->backend == BackendName::cuda ? device_cache_bytes() : last_level_cache_bytes();
          m.cache = task.bytes >= 4 * double(cache) ? Cache::large : plan.warm ? Cache::warm : Cache::cold;
          if (m.verdict == Verdict::right && plan.trials > 0 && plan.selection.wants(*job.rival))
            m.sample = timed(prepared, job.rival->backend, m.cache == Cache::cold, flush_host, plan, where);
        } catch (const ResourceError& refusal) {
          m.verdict = Verdict::refused, m.reason = refusal.what();
        } catch (const InputError& refusal) {
          m.verdict = Verdict::refused, m.reason = refusal.what();
        }
        if (plan.selection.wants(*job.rival) || m.verdict == Verdict::wrong) found.push_back(std::move(m));
      }
    }
  return found;
}

}  // namespace seidel::drivers
