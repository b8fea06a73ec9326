// The front door of the generators: finds one by its name.
#include <algorithm>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel {

namespace {

using namespace generators;

constexpr const Generator* all_generators[] = {
    &poisson2d,  //
    &poisson3d, &hpcg,  &aniso2d, &aniso3d, &convdiff, &elasticity3d, &generators::random,
    &spd,       &graph, &banded,  &rmat,    &denserow, &densecolumn,  &emptyrows,
};

constexpr const Generator* random_generators[] = {&generators::random, &spd, &graph, &banded, &rmat};

const Generator* find(std::string_view spec) {
  const std::string_view name = spec.substr(0, spec.find(':'));
  for (const Generator* generator : all_generators)
    if (generator->name == name) return generator;
  return nullptr;
}

const Generator& found(std::string_view spec) {
  if (const Generator* generator = find(spec)) return *generator;
  std::string names;
  for (const auto& name : generator_names()) names += (names.empty() ? "" : ", ") + name;
  throw UsageError(std::string(spec) + ": found '" + std::string(spec.substr(0, spec.find(':'))) +
                   "', expected the name of a generator\n  one of " + names);
}

}  // namespace

bool is_generator(std::string_view spec) { return find(spec) != nullptr; }
bool is_random(std::string_view spec) {
  return std::ranges::find(random_generators, find(spec)) != std::end(random_generators);
}

Csr<double, std::int64_t> generate(const OpenMP& on, std::string_view spec, std::uint64_t seed, const Sized& sized) {
  const Generator& generator = found(spec);
  const Spec parsed(spec, generator, sized);
  return generator.stencil ? lattice(on, parsed, generator.stencil(parsed)) : generator.make(on, parsed, seed);
}

template <class Offset>
Csr<double, Offset, Device> generate(const Cuda& on, std::string_view spec, std::uint64_t seed) {
  if constexpr (built_with_cuda) {
    const Generator& generator = found(spec);
    const Sized nobody;
    const Spec parsed(spec, generator, nobody);
    if (generator.stencil) return lattice<Offset>(on, parsed, generator.stencil(parsed));
    const Matrix here = generator.make(on.host(), parsed, seed);
    const auto there = copied_to<Device>(on, here.view());
    return with_offsets<Offset>(on, there.view());
  } else {
    throw BackendError(cuda_unavailable_because());
  }
}
template Csr<double, std::int32_t, Device> generate(const Cuda&, std::string_view, std::uint64_t);
template Csr<double, std::int64_t, Device> generate(const Cuda&, std::string_view, std::uint64_t);

Csr<double, std::int64_t> generate_coordinates(std::string_view spec) {
  const Generator& generator = found(spec);
  if (!generator.coordinates)
    throw UsageError(std::string(spec) + ": found " + std::string(generator.name) +
                     ", expected a generator that knows the coordinates of its points: elasticity3d");
  return generator.coordinates(Spec(spec, generator, {}));
}

std::vector<std::string> generator_names() {
  std::vector<std::string> names;
  for (const Generator* generator : all_generators) names.emplace_back(generator->name);
  return names;
}

std::string generator_help() {
  std::string text;
  for (const Generator* generator : all_generators)
    text += std::string(generator->grammar) + "\n    " + std::string(generator->meaning) + "\n    for example " +
            std::string(generator->example) + "\n";
  return text;
}

}  // namespace seidel
