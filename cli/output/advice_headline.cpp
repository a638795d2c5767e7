#include "cli/output/advice_headline.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/origin.hpp"
#include "core/base/readable.hpp"

namespace overlaptune::cli {
namespace {

/// The passes of one number of tokens.
struct Gain {
  double least = 0;
  double most = 0;
  Microseconds saved{};  ///< the most that one of them saves
};

Gain gain_at(const Advice& advice, std::int64_t tokens) {
  Gain gain;
  for (const Pass& pass : advice.passes) {
    if (pass.tokens != tokens) continue;
    const double speedup = pass.times.speedup();
    gain.least = gain.most == 0 ? speedup : std::min(gain.least, speedup);
    gain.most = std::max(gain.most, speedup);
    gain.saved = std::max(gain.saved, pass.times.saved());
  }
  return gain;
}

std::string range_of(const Gain& gain) {
  const std::string least = fmt::format("{:.2f}", gain.least);
  const std::string most = fmt::format("{:.2f}", gain.most);
  return least == most ? least : least + " to " + most;
}

/// The fastest passes with the most and the fewest tokens; one where they are the same.
std::vector<const Pass*> ends(const Advice& advice) {
  const auto passes = fastest(advice);
  const auto [fewest, most] = std::ranges::minmax_element(passes, {}, &Pass::tokens);
  if ((*fewest)->tokens == (*most)->tokens) return {*most};
  return {*most, *fewest};
}

std::string gains(const Advised& advised, const std::vector<const Pass*>& ends) {
  std::string line = fmt::format("Overlap makes a forward pass of {}", advised.config.name);
  for (const Pass* pass : ends) {
    const Gain gain = gain_at(advised.advice, pass->tokens);
    const bool first = pass == ends.front();
    line += fmt::format("{} {}{} at {}{}", first ? "" : ",", range_of(gain),
                        first ? " times as fast" : "", readable_count(pass->tokens),
                        first ? " tokens" : "");
    if (first) line += fmt::format(" (up to {} saved)", readable(gain.saved));
  }
  return line;
}

std::string divisions(const std::vector<const Pass*>& ends) {
  std::vector<std::string> parts;
  parts.reserve(ends.size());
  for (const Pass* pass : ends) {
    parts.push_back(
        fmt::format("at {} --tp {} {}, {} instead of {}", readable_count(pass->tokens), pass->tp,
                    pass->parallelism == Parallelism::sequence ? "with sequence parallelism"
                                                               : "with all-reduce (plain TP)",
                    readable(pass->times.overlapped), readable(pass->times.sequential)));
  }
  return fmt::format("Fastest: {}", fmt::join(parts, "; "));
}

std::string grounds(const Advised& advised) {
  std::ptrdiff_t measured = 0;
  std::size_t all = 0;
  for (const Pass& pass : advised.advice.passes) {
    all += pass.operations.size();
    measured += exact_operations(pass);
  }
  return fmt::format(
      "On {}, {} launch: {} of {} times of operations are measured, the others predicted",
      full_name(advised.platform), to_string(advised.launch), measured, all);
}

}  // namespace

std::string headline(const Advised& advised, const Assumptions& assumptions) {
  const auto passes = ends(advised.advice);
  const std::string_view mark = simulated_mark(advised.platform);
  return fmt::format("{}{}\n{}{}\n{}{}{}\n", gains(advised, passes), mark, divisions(passes), mark,
                     grounds(advised), assumed(assumptions), mark);
}

}  // namespace overlaptune::cli
