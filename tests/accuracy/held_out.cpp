#include "held_out.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/hash.hpp"

namespace overlaptune {
namespace {

std::int64_t log_uniform(std::uint64_t bits, double least, double most, std::int64_t multiple) {
  const double u = static_cast<double>(bits >> 11) * 0x1.0p-53;
  const double size = least * std::pow(most / least, u);
  return std::max<std::int64_t>(1, std::llround(size / static_cast<double>(multiple))) * multiple;
}

}  // namespace

std::vector<Problem> held_out_problems(int count, int ranks, std::uint64_t seed) {
  std::vector<Problem> problems;
  std::uint64_t state = mix(seed);
  auto next = [&state] { return state = mix(state); };
  for (int i = 0; i < count; ++i) {
    const Op op = NamesOf<Op>::all[static_cast<std::size_t>(i) % NamesOf<Op>::all.size()].value;
    const std::int64_t rows = op == Op::gemm_all_reduce ? 1 : ranks;
    problems.push_back({.op = op,
                        .m = log_uniform(next(), 64, 32768, rows),
                        .n = log_uniform(next(), 512, 32768, n_multiple(Elements::bf16)),
                        .k = log_uniform(next(), 512, 32768, k_multiple(Elements::bf16)),
                        .elements = Elements::bf16,
                        .ranks = ranks});
  }
  return problems;
}

}  // namespace overlaptune
