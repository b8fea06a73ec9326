// Products with a matrix whose rows several processes share.
#pragma once
#include <memory>
#include <utility>

#include <seidel/kernels/distributed/blas1.hpp>
#include <seidel/kernels/distributed/exchange.hpp>
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

  /// Of the rows here of a square matrix, in the memory of the back end, with the columns of the whole. Every process makes one.
  DistributedMatrix(Distributed<B> on, Csr<double, Offset, SpaceOf<B>> rows)
      : on_(std::move(on)), held_(std::make_shared<Held>(std::move(rows))) {
    const Processes& all = on_.rows().all;
    Held& held = *held_;
    Halo halo = find_halo(on_.local(), all, on_.rows().shares, held.rows);
    HaloRoom& room = on_.rows().room;
    room.before = std::max(room.before, (halo.before + aligned - 1) / aligned * aligned);
    room.after = std::max(room.after, halo.after);
    together(all, [&] {
      const B& local = on_.local();
      held.product.emplace(local, std::as_const(held.rows).view());
      held.x = Array<double, Space>(local, halo.columns());
      held.exchange = std::make_shared<HaloExchange<B>>(local, all, std::move(halo));
    });
  }

  std::int64_t nrows() const { return held_->rows.nrows; }
  std::int64_t ncols() const { return halo().own; }
  V domain() const { return {on_, ncols()}; }
  V range() const { return {on_, nrows()}; }
  const Distributed<B>& on() const { return on_; }
  const std::shared_ptr<const HaloExchange<B>>& halo_exchange() const { return held_->exchange; }
  const Halo& halo() const { return halo_exchange()->halo(); }
  const Product<double, Offset, B>& product() const { return *held_->product; }
  /// The rows here, with columns as halo() numbers them.
  CsrView<double, Offset, Space> rows() const { return std::as_const(held_->rows).view(); }

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
    const Span<double, Space> whole = place_for(x);
    if (whole.data() == held_->x.data())
      copy<B, double>(on_.local(), x.span(), whole.subspan(halo().before, halo().own));
    halo_exchange()->bring(whole);
    return whole;
  }

 private:
  struct Held {
    explicit Held(Csr<double, Offset, Space> of) : rows(std::move(of)) {}
    Csr<double, Offset, Space> rows;
    std::shared_ptr<const HaloExchange<B>> exchange = {};
    std::optional<Product<double, Offset, B>> product = {};
    Array<double, Space> x = {};  // [before; own; after]
  };

  static constexpr std::int64_t aligned = 256 / sizeof(double);  // as memory of a GPU is

  /// Around x, where there is room, else in held_->x.
  Span<double, Space> place_for(const V& x) const {
    const Halo& halo = this->halo();
    const bool has_room = x.room().before >= halo.before && x.room().after >= halo.after;
    if (!has_room || (!HostBackend<B> && halo.before % aligned != 0)) return held_->x.span();
    return {const_cast<double*>(x.span().data()) - halo.before, halo.columns()};  // its elements are only read
  }

  Distributed<B> on_;
  std::shared_ptr<Held> held_;  // of which products use workspace
};

}  // namespace seidel
