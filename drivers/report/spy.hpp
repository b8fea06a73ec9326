// Where the nonzeros are, as a picture for a terminal.
#pragma once
#include <string>

#include <seidel/formats/csr.hpp>

namespace seidel::drivers {

/// At most `columns` characters wide and half as many lines high, framed. With unicode each character is a grid of 2 x
/// 4 dots (braille), each dot on where any nonzero falls; without, characters . : + # by how full their cell is.
std::string spy_plot(const CsrView<double, std::int64_t, Host>& A, int columns, bool unicode);

}  // namespace seidel::drivers
