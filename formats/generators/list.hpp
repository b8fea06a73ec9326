// All generators. To add one: its file, a line here and in list.cpp, its test.
#pragma once
#include <seidel/formats/generators/spec.hpp>

namespace seidel::generators {

extern const Generator poisson2d, poisson3d;
extern const Generator hpcg;
extern const Generator aniso2d, aniso3d;
extern const Generator convdiff;
extern const Generator elasticity3d;
extern const Generator random;
extern const Generator spd;
extern const Generator graph;
extern const Generator banded;
extern const Generator rmat;
extern const Generator denserow, densecolumn, emptyrows;

}  // namespace seidel::generators
