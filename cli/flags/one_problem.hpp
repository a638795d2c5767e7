#pragma once
// The flags that name one problem, in one of three ways.

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/output/assumptions.hpp"
#include "core/layer_gemm.hpp"
#include "core/problem.hpp"

namespace overlaptune::cli {

struct ProblemFlags {
  /// `--problem OP:M,N,K:dtype:ranks`
  std::optional<Problem> problem{};

  /// `--op`, `--m`, `--n`, `--k`, `--dtype`, `--ranks`
  std::optional<Op> op{};
  std::optional<std::int64_t> m{};
  std::optional<std::int64_t> n{};
  std::optional<std::int64_t> k{};
  std::optional<Elements> elements{};
  std::optional<int> ranks{};

  /// `--model`, `--layer`, `--tokens`, `--tp`, `--sequence-parallel`, `--assume-dense`
  std::string model{};
  ReadingOptions reading{};
  std::optional<Product> layer{};
  std::optional<std::int64_t> tokens{};
  std::optional<int> tp{};
  bool sequence_parallel = false;
};

void add_problem_flags(CLI::App& command, ProblemFlags& flags);

/// A problem, and what was assumed of the model whose layer it is.
struct AskedProblem {
  Problem problem{};
  Assumptions assumptions{};
};

/// The problem that the flags name. Throws `Failure` (`bad_input`) where they name none, name one
/// in two ways or in part, and for a problem that is not valid; the message names the flags.
[[nodiscard]] AskedProblem read_problem(const ProblemFlags& flags);

}  // namespace overlaptune::cli
