// What processes tell each other, by MPI.
#include <seidel/formats/mpi/mpi_processes.hpp>

#include <algorithm>
#include <cstring>

#include <seidel/formats/mpi/process_grid.hpp>

namespace seidel {

MpiProcesses::MpiProcesses(MPI_Comm all) : all_(all) {
  MPI_Comm_rank(all, &rank_);
  MPI_Comm_size(all, &size_);
}

void MpiProcesses::gather(HostSpan<const double> mine, const std::vector<int>& counts, double* all) const {
  std::vector<int> places(counts.size());
  for (std::size_t p = 1; p < counts.size(); ++p) places[p] = places[p - 1] + counts[p - 1];
  mpi_check(
      MPI_Allgatherv(mine.data(), int(mine.size()), MPI_DOUBLE, all, counts.data(), places.data(), MPI_DOUBLE, all_),
      "gathering numbers");
}

void MpiProcesses::exchange(const std::vector<HostSpan<const std::byte>>& out,
                            const std::vector<HostSpan<std::byte>>& in) const {
  constexpr std::int64_t at_once = 1 << 30;  // bytes, whose number fits an int
  std::vector<MPI_Request> requests;
  const auto in_pieces = [&](std::int64_t bytes, const auto& begin) {
    for (std::int64_t first = 0; first < bytes; first += at_once)
      mpi_check(begin(first, int(std::min(at_once, bytes - first)), requests.emplace_back()), "sending to a process");
  };
  for (int p = 0; p < size_; ++p)
    if (const auto& from = in[std::size_t(p)]; p != rank_)
      in_pieces(from.size(), [&](std::int64_t first, int count, MPI_Request& request) {
        return MPI_Irecv(from.data() + first, count, MPI_BYTE, p, 0, all_, &request);
      });
    else if (from.size() > 0)
      std::memcpy(from.data(), out[std::size_t(p)].data(), std::size_t(from.size()));
  for (int p = 0; p < size_; ++p)
    if (const auto& to = out[std::size_t(p)]; p != rank_)
      in_pieces(to.size(), [&](std::int64_t first, int count, MPI_Request& request) {
        return MPI_Isend(to.data() + first, count, MPI_BYTE, p, 0, all_, &request);
      });
  mpi_check(MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "waiting for processes");
}

bool MpiProcesses::exchange_on(const Cuda& on, const std::vector<DeviceSpan<const std::byte>>& out,
                               const std::vector<DeviceSpan<std::byte>>& in) const {
  if (peers_) peers_->exchange(on, out, in);
  return are_connected();
}

}  // namespace seidel
