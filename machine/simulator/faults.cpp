#include "machine/simulator/faults.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace overlaptune::sim {
namespace {

/// The value of a text that is a number in [0, 1]; otherwise -1.
double probability(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool good = !text.empty() && *end == '\0' && value >= 0 && value <= 1;
  return good ? value : -1;
}

Expected<void> set(Faults& faults, std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::string name(item.substr(0, equals));
  const double value =
      equals == std::string_view::npos ? -1 : probability(std::string(item.substr(equals + 1)));
  if (value < 0) {
    return bad_input(fmt::format("faults: '{}': expected NAME=P with P from 0 to 1", item));
  }
  if (name == "hang") {
    faults.hang = value;
  } else if (name == "wrong") {
    faults.wrong = value;
  } else if (name == "crash") {
    faults.crash = value;
  } else if (name == "rank_died") {
    faults.rank_died = value;
  } else if (name == "slow_cold") {
    faults.slow_cold = value;
  } else if (name == "slow_beside") {
    faults.slow_beside = value;
  } else if (name == "sequential") {
    faults.sequential = value > 0;
  } else {
    return bad_input(fmt::format(
        "faults: '{}': expected one of hang, wrong, crash, rank_died, slow_cold, slow_beside, "
        "sequential",
        name));
  }
  return {};
}

}  // namespace

Verdict Faults::verdict(const Config& config, const Noise& noise) const {
  if (strategy_of(config) == kBaseline && !sequential) return Verdict::valid;
  double left = noise.stream("fault").uniform(0);
  const auto happens = [&left](double chance) { return (left -= chance) < 0; };
  if (happens(hang)) return Verdict::timeout;
  if (happens(wrong)) return Verdict::wrong;
  if (happens(crash)) return Verdict::crashed;
  if (happens(rank_died)) return Verdict::rank_died;
  return Verdict::valid;
}

double Faults::slowdown(const Config& config, RunPhase phase, const Noise& noise) const {
  constexpr double kSlower = 2;
  if (strategy_of(config) == kBaseline || phase == RunPhase::steady) return 1;
  const double chance = phase == RunPhase::cold ? slow_cold : slow_beside;
  return noise.stream("slow").stream(to_string(phase)).uniform(0) < chance ? kSlower : 1;
}

Expected<Faults> parse_faults(std::string_view text) {
  Faults faults;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (const auto good = set(faults, text.substr(0, comma)); !good) return error_of(good);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  if (faults.hang + faults.wrong + faults.crash + faults.rank_died > 1 + 1e-9) {
    return bad_input("faults: the probabilities add up to more than 1");
  }
  return faults;
}

std::string fault_reason(Verdict verdict, int ranks) {
  switch (verdict) {
    case Verdict::timeout:
      return "did not end within its limit (simulated fault)";
    case Verdict::wrong:
      return "result differs from the reference (simulated fault)";
    case Verdict::crashed:
      return "worker of rank 0 crashed (simulated fault)";
    case Verdict::rank_died:
      return fmt::format("rank {} was lost (simulated fault)", ranks - 1);
    default:
      return {};
  }
}

}  // namespace overlaptune::sim
