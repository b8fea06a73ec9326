// Products with a matrix whose rows several processes share.
#pragma once
#include <memory>
#include <utility>

#include <seidel/kernels/distributed/blas1.hpp>
#include <seidel/kernels/distributed/halo.hpp>
#include <seidel/kernels/products/product.hpp>

namespace seidel {

/// y = A x and r = b - A x, where each process has the rows of A that belong to its elements of y, and gets the elements of x that
/// its rows need besides its own (halo.hpp) with each product. Each row has the bits that it has in one process. Copies share it.
///
/// Shapes  nrows() and ncols() are the numbers of rows and columns here, as the size() of the vectors is.
/// Cost    made: as find_halo() and Product; holds the rows and, of x, its own elements and those that come. A product
///         copies an x without room (HaloRoom), sends and receives the halo, and waits for the processes that it comes
///         from; on GPUs that Processes::exchange_on() does not connect it goes by way of the host.
/// Errors  ResourceError, on all processes.
template <class Offset, Backend B>
class DistributedMatrix {
  using Space = SpaceOf<B>;

 public:
  using Real = double;
  using V = Vector<double, Distributed<B>>;

  /// Of the rows here, with the columns of the whole matrix. Every process makes one. `range` is of y, `domain` of x.
  DistributedMatrix(Distributed<B> range, Distributed<B> domain, Csr<double, Offset> rows)
      : range_(std::move(range)), domain_(std::move(domain)), held_(std::make_shared<Held>(std::move(rows))) {
    const Processes& all = domain_.rows().all;
    Held& held = *held_;
    held.halo = find_halo(host_of(domain_.local()), all, domain_.rows().shares, held.rows);
    HaloRoom& room = domain_.rows().room;
    room.before = std::max(room.before, (held.halo.before + aligned - 1) / aligned * aligned);
    room.after = std::max(room.after, held.halo.after);
    together(all, [&] {
      const B& local = domain_.local();
      held.product.emplace(local, brought_to(local, std::as_const(held.rows).view(), held.rows_there));
      held.x = Array<double, Space>(local, held.halo.columns());
      held.out = Array<double, Space>(local, held.halo.sent.size());
      if constexpr (!HostBackend<B>) {
        held.sent = copied_to<Space>(local, held.halo.sent);
        held.out_here = Array<double>(held.halo.sent.size());
        held.in_here = Array<double>(held.halo.before + held.halo.after);
      }
    });
  }
  /// Of a square matrix.
  DistributedMatrix(const Distributed<B>& on, Csr<double, Offset> rows) : DistributedMatrix(on, on, std::move(rows)) {}

  std::int64_t nrows() const { return held_->rows.nrows; }
  std::int64_t ncols() const { return halo().own; }
  V domain() const { return {domain_, ncols()}; }
  V range() const { return {range_, nrows()}; }
  const Distributed<B>& on() const { return range_; }
  const Halo& halo() const { return held_->halo; }
  const Product<double, Offset, B>& product() const { return *held_->product; }
  /// The rows here, with columns as halo() numbers them; on the host, and in the memory of the back end.
  CsrView<double, Offset, Host> rows() const { return std::as_const(held_->rows).view(); }
  CsrView<double, Offset, Space> rows_there() const { return product().view(); }

  void apply(const V& x, V& y) const {
    const auto all_of_x = with_halo(x);
    if (nrows() > 0) product().apply(all_of_x, y.span());
  }
  void residual(const V& x, const V& b, V& r) const {
    const auto all_of_x = with_halo(x);
    if (nrows() > 0) product().residual(all_of_x, b.span(), r.span());
  }

  /// [before; x; after] as halo() says, until the next product: around x, where it has room.
  Span<const double, Space> with_halo(const V& x) const {
    const B& local = domain_.local();
    Held& held = *held_;
    const Halo& halo = held.halo;
    const Processes& all = domain_.rows().all;
    const Span<double, Space> whole = place_for(x);
    const auto before = whole.subspan(0, halo.before), after = whole.subspan(halo.before + halo.own, halo.after);
    if (whole.data() == held.x.data()) copy<B, double>(local, x.span(), whole.subspan(halo.before, halo.own));
    if constexpr (HostBackend<B>) {
      gather<B, double>(local, halo.sent.span(), x.span(), held.out.span());
      exchange_halo(all, halo, held.out.span(), before, after);
    } else {
      gather<B, double>(local, std::as_const(held.sent).span(), x.span(), held.out.span());
      if (all.exchange_on(local, processes_detail::pieces<const std::byte, Space>(held.out.data(), halo.sends),
                          halo_detail::pieces<std::byte>(halo, all.rank(), before, after)))
        return whole;
      copy(local, std::as_const(held.out).span(), held.out_here.span());
      const auto in = held.in_here.span();
      exchange_halo(all, halo, held.out_here.span(), in.subspan(0, halo.before), in.subspan(halo.before, halo.after));
      copy(local, HostSpan<const double>(in.subspan(0, halo.before)), before);
      copy(local, HostSpan<const double>(in.subspan(halo.before, halo.after)), after);
    }
    return whole;
  }
  /// The other way: x gets its own elements of `all_of_x`, to which those that other processes have of them are added, in the
  /// order of processes.
  void add_halo(Span<const double, Space> all_of_x, V& x) const {
    const B& local = domain_.local();
    Held& held = *held_;
    const Halo& halo = held.halo;
    const Processes& all = domain_.rows().all;
    const auto before = all_of_x.subspan(0, halo.before), after = all_of_x.subspan(halo.before + halo.own, halo.after);
    copy<B, double>(local, all_of_x.subspan(halo.before, halo.own), x.span());
    std::int64_t first = 0;
    const auto add_from_each = [&](Span<const Index, Space> sent) {
      for (const std::int64_t count : halo.sends) {
        add_to<B, double>(local, sent.subspan(first, count), std::as_const(held.out).span().subspan(first, count),
                          x.span());
        first += count;
      }
    };
    if constexpr (HostBackend<B>) {
      return_halo(all, halo, before, after, held.out.span());
      add_from_each(halo.sent.span());
    } else {
      if (!all.exchange_on(local, halo_detail::pieces<const std::byte>(halo, all.rank(), before, after),
                           processes_detail::pieces<std::byte, Space>(held.out.data(), halo.sends))) {
        const auto in = held.in_here.span();
        copy(local, before, in.subspan(0, halo.before));
        copy(local, after, in.subspan(halo.before, halo.after));
        return_halo(all, halo, in.subspan(0, halo.before), in.subspan(halo.before, halo.after), held.out_here.span());
        copy(local, std::as_const(held.out_here).span(), held.out.span());
      }
      add_from_each(std::as_const(held.sent).span());
    }
  }

 private:
  struct Held {
    explicit Held(Csr<double, Offset> of) : rows(std::move(of)) {}
    Csr<double, Offset> rows;
    Halo halo = {};
    std::optional<Product<double, Offset, B>> product = {};
    Array<double, Space> x = {}, out = {};       // [before; own; after]; what others need
    Csr<double, Offset, Space> rows_there = {};  // these on a GPU only
    Array<Index, Space> sent = {};
    Array<double> out_here = {}, in_here = {};
  };

  static constexpr std::int64_t aligned = 256 / sizeof(double);  // as memory of a GPU is

  /// Around x, where there is room, else in held_->x.
  Span<double, Space> place_for(const V& x) const {
    const Halo& halo = held_->halo;
    const bool has_room = x.room().before >= halo.before && x.room().after >= halo.after;
    if (!has_room || (!HostBackend<B> && halo.before % aligned != 0)) return held_->x.span();
    return {const_cast<double*>(x.span().data()) - halo.before, halo.columns()};  // its elements are only read
  }

  Distributed<B> range_, domain_;
  std::shared_ptr<Held> held_;  // of which products use workspace
};

}  // namespace seidel
