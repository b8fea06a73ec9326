// Halos that are brought to where they are needed, from memory of a back end to that of the same back end of other processes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/distributed/halo.hpp>

namespace seidel {

/// As Processes::exchange(), of memory of the back end. Between GPUs without waiting where Processes::exchange_on() connects them,
/// else by way of the host, which waits.
template <Backend B>
void exchange(const B& on, const Processes& all, const std::vector<Span<const std::byte, SpaceOf<B>>>& out,
              const std::vector<Span<std::byte, SpaceOf<B>>>& in) {
  if constexpr (HostBackend<B>) {
    all.exchange(out, in);
  } else {
    if (all.exchange_on(on, out, in)) return;
    std::vector<Array<std::byte>> out_here, in_here;
    std::vector<HostSpan<const std::byte>> from;
    std::vector<HostSpan<std::byte>> to;
    for (const auto& piece : out) from.emplace_back(out_here.emplace_back(copied_to<Host>(on, piece)));
    for (const auto& piece : in) to.emplace_back(in_here.emplace_back(piece.size()).span());
    all.exchange(from, to);
    for (std::size_t p = 0; p < in.size(); ++p) copy(on, HostSpan<const std::byte>(to[p]), in[p]);
  }
}

/// Whether exchange() does not visit the host.
bool is_direct(const HostBackend auto&, const Processes&) { return true; }
inline bool is_direct(const Cuda& on, const Processes& all) {
  const std::size_t size = std::size_t(all.size());
  return all.exchange_on(on, std::vector<DeviceSpan<const std::byte>>(size), std::vector<DeviceSpan<std::byte>>(size));
}

/// `mine` of all processes one after the other, counts[p] numbers of process p, in the memory of the back end; as exchange().
template <class T, Backend B>
void gather_from_all(const B& on, const Processes& all, Span<const T, SpaceOf<B>> mine,
                     const std::vector<std::int64_t>& counts, Span<T, SpaceOf<B>> whole) {
  using Bytes = Span<const std::byte, SpaceOf<B>>;
  const Bytes bytes(reinterpret_cast<const std::byte*>(mine.data()), mine.size() * std::int64_t(sizeof(T)));
  exchange(on, all, std::vector<Bytes>(counts.size(), bytes),
           processes_detail::pieces<std::byte, SpaceOf<B>>(whole.data(), counts));
}

/// A halo, and what it takes to exchange it: memory for elements on their way. T is float, double or Index. Where exchange() is direct,
/// nothing is waited for or returned to the host, and no memory taken but lists of a few words per process.
template <Backend B>
class HaloExchange {
  using Space = SpaceOf<B>;

 public:
  HaloExchange(const B& on, const Processes& all, Halo halo)
      : on_(on),
        all_(&all),
        halo_(std::move(halo)),
        sent_(copied_to<Space>(on_, halo_.sent)),
        travelling_(on_, halo_.sent.size() * std::int64_t(sizeof(double))) {}

  const Halo& halo() const { return halo_; }

  /// whole = [before; own; after], of which the own elements are there, gets the others.
  template <class T>
  void bring(Span<T, Space> whole) const {
    T* const out = reinterpret_cast<T*>(travelling_.data());
    gather<B, T>(on_, sent_, whole.subspan(halo_.before, halo_.own), {out, sent_.size()});
    exchange(on_, *all_, processes_detail::pieces<const std::byte, Space>(out, halo_.sends), around<std::byte>(whole));
  }
  /// Such a vector, of its own elements. Every process calls it. Errors  ResourceError, on all processes.
  template <class T>
  Array<T, Space> with_halo(const Array<T, Space>& own) const {
    Array<T, Space> whole;
    together(*all_, [&] {
      whole = Array<T, Space>(on_, halo_.columns());
      copy<B, T>(on_, own.span(), whole.span().subspan(halo_.before, halo_.own));
    });
    bring(whole.span());
    return whole;
  }
  /// The other way: `own` gets the own elements of `whole`, to which those that other processes have of them are added, in the
  /// order of processes.
  template <class T>
  void add_back(Span<const T, Space> whole, Span<T, Space> own) const {
    T* const in = reinterpret_cast<T*>(travelling_.data());
    copy<B, T>(on_, whole.subspan(halo_.before, halo_.own), own);
    exchange(on_, *all_, around<const std::byte>(whole), processes_detail::pieces<std::byte, Space>(in, halo_.sends));
    std::int64_t first = 0;
    for (const std::int64_t count : halo_.sends) {
      add_to<B, T>(on_, std::as_const(sent_).span().subspan(first, count), {in + first, count}, own);
      first += count;
    }
  }

 private:
  /// What lies before and after, by process.
  template <class Byte, class T>
  std::vector<Span<Byte, Space>> around(Span<T, Space> whole) const {
    const auto here = halo_.receives.begin() + all_->rank();  // nothing comes from this process
    auto pieces = processes_detail::pieces<Byte, Space>(whole.data(), {halo_.receives.begin(), here});
    T* const after = whole.data() + halo_.before + halo_.own;
    for (const auto& piece : processes_detail::pieces<Byte, Space>(after, {here, halo_.receives.end()}))
      pieces.push_back(piece);
    return pieces;
  }

  B on_;
  const Processes* all_;
  Halo halo_;
  Array<Index, Space> sent_;
  mutable Array<std::byte, Space> travelling_;
};

}  // namespace seidel
