// Processes that solve one system together: the first one leads, the others do what it says.
#include <seidel/drivers/solve_team.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/mpi_session.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/team_message.hpp>
#include <seidel/formats/mpi/mpi_processes.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/solvers/preconditioners/amg.hpp>
#include <seidel/solvers/preconditioners/per_process.hpp>
#include <seidel/solvers/solve.hpp>

namespace seidel::drivers {

namespace {

/// On process 0 these, on others none: what only process 0 sends, or receives.
std::vector<std::int64_t> of_first(const Processes& all, const std::vector<std::int64_t>& counts) {
  return all.rank() == 0 ? counts : std::vector<std::int64_t>(counts.size());
}
/// Process 0 sends each process its piece of an array, the first one to itself.
template <class T>
void deal(const OpenMP& on, const Processes& all, const T* whole, const std::vector<std::int64_t>& counts,
          HostSpan<T> mine) {
  std::vector<std::int64_t> out = of_first(all, counts), in(counts.size());
  in[0] = mine.size();
  if (all.rank() == 0) {
    copy_bytes(on, Host{}, mine.data(), Host{}, whole, mine.size() * std::int64_t(sizeof(T)));
    whole += mine.size();
    out[0] = in[0] = 0;
  } else {  // touched by the threads that use them
    for_each_index(on, mine.size(), 1, [&](std::int64_t i) { mine[i] = T{}; });
  }
  exchange(all, whole, out, mine.data(), in);
}
/// And each sends its own back.
void collect(const Processes& all, HostSpan<const double> mine, const std::vector<std::int64_t>& counts,
             double* whole) {
  std::vector<std::int64_t> out(counts.size());
  out[0] = mine.size();
  exchange(all, mine.data(), out, whole, of_first(all, counts));
}

/// The rows of this process, of an A that process 0 has.
template <class Offset>
Csr<double, Offset> deal(const OpenMP& on, const Processes& all, const RowShares& shares,
                         const CsrView<double, Offset, Host>& A) {
  const std::vector<std::int64_t> one(std::size_t(all.size()), 1), rows = shares.counts();
  std::vector<std::int64_t> first(one.size()), entries(one.size());
  if (all.rank() == 0)
    for (int p = 0; p < all.size(); ++p) {
      first[std::size_t(p)] = A.row_ptr[shares.first(p)];
      entries[std::size_t(p)] = A.row_ptr[shares.first(p + 1)] - A.row_ptr[shares.first(p)];
    }
  std::int64_t before = 0, nnz = 0;
  deal(on, all, first.data(), one, HostSpan<std::int64_t>(&before, 1));
  deal(on, all, entries.data(), one, HostSpan<std::int64_t>(&nnz, 1));
  const std::int64_t n = shares.rows(all.rank());
  Csr<double, Offset> mine;
  together(all, [&] { mine = Csr<double, Offset>::uninitialised(OpenMP{1}, Index(n), 0, nnz); });
  mine.row_ptr[0] = 0;
  deal(on, all, A.row_ptr.data() + 1, rows, mine.row_ptr.span().subspan(1, n));
  for (Offset& end : mine.row_ptr.span().subspan(1, n)) end -= Offset(before);
  deal(on, all, A.col_idx.data(), entries, mine.col_idx.span());
  deal(on, all, A.values.data(), entries, mine.values.span());
  return mine;
}

/// What a process has of one system.
class Part {
 public:
  virtual ~Part() = default;
  /// Its rows of b and x. wants_stop is asked on process 0.
  virtual Summary solve(const MethodChoice& choice, HostSpan<const double> b, HostSpan<double> x, Criteria criteria,
                        std::function<bool()> wants_stop) = 0;

  std::shared_ptr<SharedRows> rows;
  Setup setup = {};
};

template <class Offset, Backend B>
class PartOn final : public Part {
  using V = Vector<double, Distributed<B>>;

 public:
  PartOn(std::shared_ptr<SharedRows> shared, const B& local, Csr<double, Offset> mine, const NearNullVectors& near_null,
         const MethodChoice& choice)
      : on_(local, shared) {
    rows = std::move(shared);
    const Stopwatch preparing;
    Csr<double, Offset, SpaceOf<B>> there;
    together(rows->all, [&] { there = moved_to<SpaceOf<B>>(local, std::move(mine)); });
    DistributedMatrix<Offset, B> A(on_, std::move(there));
    note_product(setup, A.product(), preparing.seconds());
    const Stopwatch making;
    auto made = make_distributed(A, near_null, choice);
    (void)is_direct(local, rows->all);  // GPUs that still connect are waited for here, and not by the first iteration
    local.synchronize();
    note_preconditioner(setup, made, making.seconds());
    M_.emplace(std::move(made.M));
    A_.emplace(std::move(A));
  }

  Summary solve(const MethodChoice& choice, HostSpan<const double> b, HostSpan<double> x, Criteria criteria,
                std::function<bool()> wants_stop) override {
    rows->wants_stop = std::move(wants_stop);
    rows->stop = false;
    criteria.seconds = std::numeric_limits<double>::infinity();
    criteria.stop = &rows->stop;
    const B& local = on_.local();
    const V right(on_, copied_to<SpaceOf<B>>(local, b));
    V solution(on_, copied_to<SpaceOf<B>>(local, x));
    Summary summary = seidel::solve<V>(*A_, *M_, choice, right, solution, criteria);
    std::ranges::copy(copied_to<Host>(local, std::as_const(solution).span()), x.begin());
    return summary;
  }

 private:
  Distributed<B> on_;
  std::optional<AnyOperator<V>> A_;
  std::optional<AnyPreconditioner<V>> M_;
};

/// What all processes do alike. Process 0 gives what the others have as empty.
class Member {
 public:
  Member(const MpiSession& session, const CommonOptions& options)
      : all_(MPI_COMM_WORLD), session_(session), place_(process_place(options, session)) {
    if (place_.gpu) on_all([&] { take_gpu(); });  // so that they are connected when A has been read
  }

  const Processes& all() const { return all_; }
  const OpenMP& host() const { return place_.host; }
  const Part& part() const { return *part_; }

  template <class Offset>
  void set_up(std::int64_t n, const MethodChoice& choice, bool cuda, const CsrView<double, Offset, Host>& A,
              NearNullVectors near_null) {
    on_all([&] { make_part(n, choice, cuda, A, near_null); });
  }

  Summary solve(const MethodChoice& choice, const Criteria& criteria, const double* b, double* x,
                const std::function<bool()>& wants_stop) {
    const std::vector<std::int64_t> rows = part_->rows->shares.counts();
    Summary summary;
    on_all([&] {
      Array<double> my_b(part_->rows->rows()), my_x(part_->rows->rows());
      deal(host(), all_, b, rows, my_b.span());
      deal(host(), all_, static_cast<const double*>(x), rows, my_x.span());
      summary = part_->solve(choice, my_b, my_x, criteria, wants_stop);
      collect(all_, my_x, rows, x);
    });
    return summary;
  }

 private:
  /// An error that is not one of all processes ends them all: the others would wait for this one.
  void on_all(const auto& work) {
    all_.agreed_on_error = false;
    try {
      work();
    } catch (const UsageError&) {  // of what all of them were given
      throw;
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      if (!all_.agreed_on_error) end_all_processes(session_, error);
      throw;
    }
  }

  template <class Offset>
  void make_part(std::int64_t n, const MethodChoice& choice, bool cuda, const CsrView<double, Offset, Host>& A,
                 const NearNullVectors& near_null) {
    part_.reset();
    if (cuda) take_gpu();
    const Index unknowns = Index(told(all_, double(near_null.unknowns_per_node)));
    const auto rows = std::make_shared<SharedRows>(all_, RowShares(n, all_.size(), unknowns));
    Csr<double, Offset> mine = deal(host(), all_, rows->shares, A);
    const std::int64_t count = std::int64_t(told(all_, double(near_null.vectors.ncols)));
    MultiVector<double> vectors(rows->rows(), count, Layout::column_major);
    for (std::int64_t j = 0; j < count; ++j)
      deal(host(), all_, all_.rank() == 0 ? &near_null.vectors(0, j) : nullptr, rows->shares.counts(),
           HostSpan<double>(&vectors.view()(0, j), rows->rows()));
    const NearNullVectors here{vectors.view(), unknowns};
    const auto make = [&](const auto& on) {
      part_ =
          std::make_unique<PartOn<Offset, std::remove_cvref_t<decltype(on)>>>(rows, on, std::move(mine), here, choice);
    };
    if constexpr (built_with_cuda)
      if (cuda) return make(*place_.gpu);
    make(host());
  }
  void take_gpu() {
    if constexpr (built_with_cuda) {
      together(all_, [&] {
        if (!place_.gpu)
          place_.gpu.emplace(CudaSettings{.device = session_.local_rank % cuda_device_count(), .host = host()});
      });
      if (!std::exchange(connected_, true)) all_.connect(*place_.gpu);
    }
  }

  MpiProcesses all_;
  const MpiSession& session_;
  ProcessPlace place_;
  bool connected_ = false;  // the GPUs
  std::unique_ptr<Part> part_;
};

enum class Task : char { set_up_narrow, set_up_wide, solve, end };

class Leader final : public Team {
 public:
  explicit Leader(Member& member) : member_(member) {}
  ~Leader() override { tell(Message().put(Task::end)); }

  int size() const override { return member_.all().size(); }
  int threads() const override { return member_.host().threads; }
  Setup set_up(const System<std::int32_t>& system, const MethodChoice& choice, bool cuda) override {
    return set_up(Task::set_up_narrow, system, choice, cuda);
  }
  Setup set_up(const System<std::int64_t>& system, const MethodChoice& choice, bool cuda) override {
    return set_up(Task::set_up_wide, system, choice, cuda);
  }
  Summary solve(const MethodChoice& choice, HostSpan<const double> b, HostSpan<double> x,
                const Criteria& criteria) override {
    Message message;
    message.put(Task::solve);
    put(message, choice);
    put(message, criteria);
    tell(message);
    Summary summary = member_.solve(choice, criteria, b.data(), x.data(), [&, watch = Stopwatch()] {
      return criteria.stop_requested() || watch.seconds() >= criteria.seconds;
    });
    if (summary.status == Status::interrupted && !criteria.stop_requested()) {
      summary.status = summary.attempts.back().status = Status::time_limit;
      summary.reason = summary.attempts.back().reason = "the limit of time is reached";
    }
    return summary;
  }

 private:
  template <class Offset>
  Setup set_up(Task task, const System<Offset>& system, const MethodChoice& choice, bool cuda) {
    if (choice.preconditioner.needs_diagonal) (void)inverse_diagonal(member_.host(), system.A);  // names the row
    NearNullVectors near_null = system.near_null;
    near_null.unknowns_per_node = rows_per_node(system, choice);
    Message message;
    message.put(task).put(std::int64_t(system.A.nrows)).put(cuda);
    put(message, choice);
    tell(message);
    member_.set_up(system.A.nrows, choice, cuda, system.A, near_null);
    return member_.part().setup;
  }
  /// Which one process must have together.
  template <class Offset>
  Index rows_per_node(const System<Offset>& system, const MethodChoice& choice) const {
    if (choice.preconditioner != PreconditionerKind::amg) return 1;
    const Index known = amg_options(choice, system.near_null.unknowns_per_node).coarsening.unknowns_per_node;
    if (known > 0) return known;
    const Index in_pattern = unknowns_per_node(member_.host(), system.A);
    return in_pattern > 1 ? in_pattern : unknowns_by_translations(member_.host(), system.A);
  }
  void tell(const Message& message) {
    meet();
    (void)told(member_.all(), message.bytes());
  }

  Member& member_;
};

template <class Offset>
void set_up(Member& member, Message& message) {
  const auto n = message.get<std::int64_t>();
  const bool cuda = message.get<bool>();
  member.set_up<Offset>(n, choice_in(message), cuda, {}, {});
}

/// Until the leader says that it is the end. What goes wrong on all, the leader tells of.
void serve(Member& member) {
  const StopOnSignal stop(true);  // the leader's is the one that counts
  for (;;) {
    meet();
    Message message(told(member.all(), std::string()));
    try {
      switch (message.get<Task>()) {
        case Task::set_up_narrow: set_up<std::int32_t>(member, message); break;
        case Task::set_up_wide: set_up<std::int64_t>(member, message); break;
        case Task::solve: {
          const MethodChoice choice = choice_in(message);
          member.solve(choice, criteria_in(message), nullptr, nullptr, {});
          break;
        }
        case Task::end: return;
      }
    } catch (const std::exception&) {
      continue;
    }
  }
}

}  // namespace

int with_team(const SolveOptions& options, const std::function<int(Team*)>& lead) {
  if (processes_of_mpirun() == 1) return lead(nullptr);
  return on_all_processes([&](const MpiSession& session) {
    if (session.size == 1) {
      if (rank_of_mpirun() == 0)
        say(options, formatted("mpirun started {} processes, but MPI of this program sees one: is it another MPI's?",
                               processes_of_mpirun()));
      return lead(nullptr);
    }
    Member member(session, options);
    if (session.rank > 0) return serve(member), 0;
    Leader leader(member);
    return lead(&leader);
  });
}

}  // namespace seidel::drivers
