#include <cstdio>

#include <seidel/kernels/vector.hpp>

int main() {
  seidel::Vector<double, seidel::OpenMP> x(seidel::OpenMP{}, 3), y(seidel::OpenMP{}, 3);
  fill(x, 2.0);
  fill(y, 3.0);
  std::printf("seidel %s: x'y = %g\n", seidel::version, dot(x, y));
}
