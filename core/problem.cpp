#include "core/problem.hpp"

#include <vector>

#include <fmt/format.h>

namespace overlaptune {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

Expected<Problem> validated(Problem problem) {
  struct Size {
    std::string_view name;
    std::int64_t value = 0;
    std::int64_t multiple = 1;
  };
  const Size sizes[] = {{"m", problem.m},
                        {"n", problem.n, n_multiple(problem.elements)},
                        {"k", problem.k, k_multiple(problem.elements)}};
  for (const auto& [name, size, multiple] : sizes) {
    if (size < 1 || size > kLargestSize) {
      return bad_input(fmt::format("problem: {} = {}: expected 1 to 2^31 - 1", name, size));
    }
    if (size % multiple != 0) {
      return bad_input(
          fmt::format("problem: {} = {}: expected a multiple of {}", name, size, multiple));
    }
  }
  if (problem.ranks < 2 || problem.ranks > kMostRanks) {
    return bad_input(
        fmt::format("problem: ranks = {}: expected 2 to {}", problem.ranks, kMostRanks));
  }
  if (const std::int64_t unit = row_multiple(problem); problem.m % unit != 0) {
    return bad_input(fmt::format("problem: m = {}: {} needs a multiple of {}ranks = {}", problem.m,
                                 to_string(problem.op), unit == problem.ranks ? "" : "4 * ", unit));
  }
  return problem;
}

Expected<Problem> parse_problem(std::string_view text) {
  const auto parts = split(text, ':');
  const auto sizes = parts.size() == 4 ? split(parts[1], ',') : std::vector<std::string_view>{};
  if (sizes.size() != 3) {
    return bad_input(fmt::format(
        "problem '{}': expected OP:M,N,K:dtype:ranks as in gemm_all_reduce:4096,8192,3584:bf16:8",
        text));
  }
  const auto op = parse_name<Op>(parts[0]);
  if (!op) return error_of(op);
  const auto elements = parse_name<Elements>(parts[2]);
  if (!elements) return error_of(elements);
  std::int64_t numbers[4] = {};
  const std::string_view fields[4] = {sizes[0], sizes[1], sizes[2], parts[3]};
  static constexpr const char* names[4] = {"m", "n", "k", "ranks"};
  for (int i = 0; i < 4; ++i) {
    const auto number = parse_size(fields[i]);
    if (!number) {
      return bad_input(fmt::format("problem '{}': {}: {}", text, names[i], number.error().message));
    }
    numbers[i] = *number;
  }
  if (numbers[3] > kMostRanks) numbers[3] = kMostRanks + 1;  // keeps the cast below in range
  return validated({.op = *op,
                    .m = numbers[0],
                    .n = numbers[1],
                    .k = numbers[2],
                    .elements = *elements,
                    .ranks = static_cast<int>(numbers[3])});
}

std::string to_string(const Problem& problem) {
  return fmt::format("{}:{},{},{}:{}:{}", to_string(problem.op), problem.m, problem.n, problem.k,
                     to_string(problem.elements), problem.ranks);
}

std::int64_t exchanged_columns(const Problem& problem) {
  return traits_of(problem.op).exchanges_first ? problem.k : problem.n;
}

Dtype exchanged_dtype(const Problem& problem) {
  return traits_of(problem.op).exchanges_first ? operand_of(problem.elements)
                                               : result_of(problem.elements);
}

Bytes collective_bytes(const Problem& problem) {
  return {problem.m * exchanged_columns(problem) * bytes_of(exchanged_dtype(problem))};
}

int row_blocks(const Problem& problem) {
  return traits_of(problem.op).row_blocks ? problem.ranks : 1;
}

std::int64_t row_multiple(const Problem& problem) {
  constexpr std::int64_t kScalesTogether = 4;  // of rows that are exchanged: whole 16 bytes a rank
  const bool scales_travel =
      scales_of(problem.elements) == Scales::rows && traits_of(problem.op).exchanges_first;
  return row_blocks(problem) * (scales_travel ? kScalesTogether : 1);
}

std::int64_t rows_of_a(const Problem& problem) {
  return traits_of(problem.op).a_is_block ? problem.m / problem.ranks : problem.m;
}

std::int64_t rows_of_c(const Problem& problem) {
  return traits_of(problem.op).c_is_block ? problem.m / problem.ranks : problem.m;
}

}  // namespace overlaptune
