// How rows are dealt out among processes; texts and errors that they share.
#include <seidel/formats/runtime/processes.hpp>

#include <algorithm>
#include <new>
#include <stdexcept>

#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

namespace {

constexpr std::int64_t terms_of_block = 2048;    // sum_block of kernels/sum.hpp
constexpr std::int64_t units_of_a_process = 32;  // and more, where there are as many blocks

}  // namespace

RowShares::RowShares(std::int64_t n, int processes, int nodes) : unit_(terms_of_block) {
  while (n / (2 * unit_ * nodes) >= units_of_a_process * processes) unit_ *= 2;
  const std::int64_t step = unit_ * nodes, steps = (n + step - 1) / step;
  for (int p = 0; p <= processes; ++p) first_.push_back(std::min(n, steps * p / processes * step));
}

RowShares::RowShares(const std::vector<std::int64_t>& counts) : unit_(terms_of_block), first_{0} {
  for (const std::int64_t count : counts) first_.push_back(first_.back() + count);
}

std::vector<std::int64_t> RowShares::counts() const {
  std::vector<std::int64_t> counts;
  for (std::size_t p = 0; p + 1 < first_.size(); ++p) counts.push_back(rows(int(p)));
  return counts;
}

int RowShares::owner(std::int64_t row) const {
  return int(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
}

double told(const Processes& all, double value, int root) {
  std::vector<int> counts(std::size_t(all.size()));
  counts[std::size_t(root)] = 1;
  double result = 0;
  all.gather({&value, all.rank() == root ? 1 : 0}, counts, &result);
  return result;
}

std::string told(const Processes& all, const std::string& text, int root) {
  std::string result(std::size_t(told(all, double(text.size()), root)), '\0');
  std::vector<HostSpan<const std::byte>> out(std::size_t(all.size()));
  std::vector<HostSpan<std::byte>> in(std::size_t(all.size()));
  if (all.rank() == root)
    for (auto& to : out) to = {reinterpret_cast<const std::byte*>(text.data()), std::int64_t(text.size())};
  in[std::size_t(root)] = {reinterpret_cast<std::byte*>(result.data()), std::int64_t(result.size())};
  all.exchange(out, in);
  return result;
}

namespace {

enum Kind { fine, usage, shape, input, resource, backend, unexpected };

}  // namespace

void together(const Processes& all, const std::function<void()>& work) {
  int kind = fine;
  std::string message;
  all.agreed_on_error = false;
  try {
    work();
  } catch (const UsageError& error) {
    kind = usage, message = error.what();
  } catch (const ShapeError& error) {
    kind = shape, message = error.what();
  } catch (const InputError& error) {
    kind = input, message = error.what();
  } catch (const ResourceError& error) {
    kind = resource, message = error.what();
  } catch (const BackendError& error) {
    kind = backend, message = error.what();
  } catch (const std::bad_alloc&) {
    kind = resource, message = "out of memory; more processes take less each";
  } catch (const std::exception& error) {
    kind = unexpected, message = error.what();
  }
  const double mine = double(kind);
  std::vector<double> kinds(std::size_t(all.size()));
  all.gather({&mine, 1}, std::vector<int>(kinds.size(), 1), kinds.data());
  const auto first = std::find_if(kinds.begin(), kinds.end(), [](double found) { return found != 0; });
  if (first == kinds.end()) return;
  message = told(all, message, int(first - kinds.begin()));
  all.agreed_on_error = true;
  switch (int(*first)) {
    case usage: throw UsageError(message);
    case shape: throw ShapeError(message);
    case input: throw InputError(message);
    case resource: throw ResourceError(message);
    case backend: throw BackendError(message);
    default: throw std::runtime_error(message);
  }
}

}  // namespace seidel
