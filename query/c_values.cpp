#include "query/c_values.hpp"

#include <limits>

#include "core/config/config_fields.hpp"

namespace overlaptune::c {
namespace {

static_assert(static_cast<int>(Source::exact) == OVT_EXACT &&
              static_cast<int>(Source::predicted) == OVT_PREDICTED &&
              static_cast<int>(Source::baseline) == OVT_BASELINE);

double microseconds(const std::optional<Microseconds>& time) {
  return time ? time->count() : std::numeric_limits<double>::quiet_NaN();
}

/// The name of the transport that a config has chosen; empty where its strategy has no choice.
std::string_view transport_name(const Config& config) {
  std::string_view name;
  with_field<config_field::Transport>(config,
                                      [&](const auto& chosen) { name = to_string(chosen); });
  return name;
}

/// The strategies of a list of names; none for NULL.
EnumSet<Strategy> strategies_of(const char* names) {
  if (names == nullptr || *names == '\0') return {};
  const auto parsed = parse_strategies(names);
  if (!parsed) {
    throw Refusal{OVT_ERROR_ARGUMENT, "ovt_question.strategies: " + parsed.error().message};
  }
  return *parsed;
}

}  // namespace

PlatformWish wish_of(const ovt_platform* platform) {
  if (platform == nullptr) return {};
  Platform described = platform_of(platform);
  if (described.name.empty()) {
    throw Refusal{OVT_ERROR_ARGUMENT, "ovt_platform.name: empty; expected at least the name"};
  }
  if (described == Platform{.name = described.name}) return {.name = std::move(described.name)};
  if (described.machine != "cuda" && described.machine != "sim") {
    throw Refusal{
        OVT_ERROR_ARGUMENT,
        fmt::format("ovt_platform.machine = '{}': expected cuda or sim, or nothing but the name",
                    described.machine)};
  }
  return {.described = std::move(described)};
}

Terms terms_of(const ovt_question* question) {
  check_input(question, "ovt_question");
  const auto refuse = [](std::string message) {
    throw Refusal{OVT_ERROR_ARGUMENT, "ovt_question." + std::move(message)};
  };
  if (question->exclusive != 0 && question->exclusive != 1) {
    refuse(fmt::format("exclusive = {}: expected 0 or 1", question->exclusive));
  }
  if (question->free_sms < 0) {
    refuse(fmt::format("free_sms = {}: expected 0 or more", question->free_sms));
  }
  if (question->reserved != 0) refuse("reserved: expected 0");
  Terms terms{.launch = in_world(launch_of(question->launch), question->exclusive == 1),
              .strategies = strategies_of(question->strategies),
              .free_sms = question->free_sms};
  // A list of all is the same question as none.
  if (terms.strategies == Capabilities{}.strategies) terms.strategies = {};
  return terms;
}

std::size_t checked(const ovt_answer* answer) {
  return size_of(answer, "ovt_answer");
}

void write(const Answer& made, std::size_t size, ovt_answer* answer) {
  const std::string line = to_string(made.config);
  put(line, answer->config, "config");
  put(to_string(strategy_of(made.config)), answer->strategy, "strategy");
  put(transport_name(made.config), answer->transport, "transport");
  put(std::string_view(made.reason).substr(0, OVT_REASON_SIZE - 1), answer->reason, "reason");
  answer->source = static_cast<ovt_source>(made.source);
  answer->reserved = 0;
  answer->predicted_us = microseconds(made.predicted);
  answer->measured_us = microseconds(made.measured);
  answer->baseline_us = microseconds(made.baseline);
  zero_beyond(size, answer);
}

}  // namespace overlaptune::c
