#pragma once
// A recipe: how to run a weight with any number of rows. It says a config for each range of rows,
// with wave groups as shares. What it takes to make one is a matter of the model; to apply it is a
// function without search that takes microseconds.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/shares.hpp"
#include "core/config/work.hpp"

namespace overlaptune {

/// A problem without its number of rows: an op on one weight.
struct Weight {
  Op op = Op::gemm_all_reduce;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
  int ranks = 0;
  friend auto operator<=>(const Weight&, const Weight&) = default;
};

[[nodiscard]] Problem problem_of(const Weight& weight, std::int64_t m);
[[nodiscard]] Weight weight_of(const Problem& problem);
/// A number of rows that the op allows is a multiple of this.
[[nodiscard]] std::int64_t row_unit(const Weight& weight);
/// The least number of rows, also of a weight that breaks a rule.
[[nodiscard]] std::int64_t least_rows(const Weight& weight);

/// The rows `from` to `to` (m of the problem), and how they run.
struct RecipeRange {
  std::int64_t from = 1;
  std::int64_t to = 1;
  /// Where the strategy has wave groups, these are empty: `shares` says them. A range of one number
  /// of rows may have them instead of shares.
  Config config{};
  std::vector<Share> shares{};
  friend bool operator==(const RecipeRange&, const RecipeRange&) = default;
};

struct Recipe {
  /// The version of the text and of the rule that makes groups from shares.
  static constexpr int kVersion = 1;

  Weight weight{};
  Launch launch = Launch::graph;      ///< that the configs are for
  int sms = 0;                        ///< SMs of a GPU that plans use: tiles of a whole wave
  std::vector<RecipeRange> ranges{};  ///< ascending, from 1 on, without gaps
  friend bool operator==(const Recipe&, const Recipe&) = default;

  /// The most rows that it serves.
  [[nodiscard]] std::int64_t most_rows() const { return ranges.empty() ? 0 : ranges.back().to; }
};

/// The range of a config that was made for a number of rows, as others will be scaled from it.
[[nodiscard]] RecipeRange scalable(const Problem& problem, const Config& config);

/// The config of a range for a number of rows: groups end at the legal cuts nearest to the shares,
/// swizzle and chunks are at most what the rows have. `sms`: that of the recipe. It is legal where
/// `check` of the result says so.
[[nodiscard]] Config scaled(const RecipeRange& range, const Problem& problem, int sms);

/// The index of the range that has these rows. Error: none has.
[[nodiscard]] Expected<std::size_t> range_of(const Recipe& recipe, std::int64_t rows);

/// The config for a number of rows. It is legal by `check(problem, config)`. Error: rows that the
/// recipe does not serve, or that are no multiple of `row_unit`.
[[nodiscard]] Expected<Config> config_for(const Recipe& recipe, std::int64_t rows);

/// The recipe, if it keeps its rules: ranges from 1 on without gaps, shares that add up to what
/// they divide, configs that are legal at both ends of their ranges. Error: what is wrong.
[[nodiscard]] Expected<Recipe> validated(Recipe recipe);

/// Rows of each range by which it can be tried: its most, its fewest, and some between them so that
/// none is more than four times the one before; at most `most_rows`. All are multiples of
/// `row_unit`; ascending.
[[nodiscard]] std::vector<std::int64_t> trial_rows(const Recipe& recipe, std::int64_t most_rows);

/// Every kernel that up to `most_rows` rows can need, each once, with the most regions of a launch
/// that it may be asked for.
[[nodiscard]] std::vector<TiledKernel> kernels_of(const Recipe& recipe, std::int64_t most_rows);

/// The config of a range as a line, with shares in the place of wave groups.
[[nodiscard]] std::string config_text(const RecipeRange& range);

/// The canonical text: a line about the weight, then one for each range, without a newline at the
/// end.
///
///     recipe=1 op=gemm_all_reduce n=8192 k=3584 dtype=bf16 ranks=8 launch=graph sms=132
///     from=1 to=64 sequential ctas=0 transport=ring
///     from=65 to=8192 signaled tile=128x256x64 … transport=ring shares=0.9,0.1
[[nodiscard]] std::string to_string(const Recipe& recipe);

/// Reads the canonical text, and no other. The result is `validated`. Error: the line and what is
/// wrong with it.
[[nodiscard]] Expected<Recipe> parse_recipe(std::string_view text);

}  // namespace overlaptune
