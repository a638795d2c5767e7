#include "query/c_values.hpp"

#include <cstring>
#include <limits>
#include <span>

namespace overlaptune::c {
namespace {

static_assert(static_cast<int>(Source::exact) == OVT_EXACT &&
              static_cast<int>(Source::predicted) == OVT_PREDICTED &&
              static_cast<int>(Source::baseline) == OVT_BASELINE);

double microseconds(const std::optional<Microseconds>& time) {
  return time ? time->count() : std::numeric_limits<double>::quiet_NaN();
}

/// Writes the parts of the reason one after the other, cut short where they do not fit.
void write_reason(std::initializer_list<std::string_view> parts, ovt_answer* answer) {
  std::size_t used = 0;
  for (const std::string_view part : parts) {
    const std::size_t fits = std::min(part.size(), sizeof answer->reason - 1 - used);
    std::memcpy(answer->reason + used, part.data(), fits);
    used += fits;
  }
  answer->reason[used] = '\0';
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
              .strategies = strategies_of_mask(question->strategies, "ovt_question.strategies"),
              .free_sms = question->free_sms};
  // A list of all is the same question as none.
  if (terms.strategies == Capabilities{}.strategies) terms.strategies = {};
  return terms;
}

std::size_t checked(const ovt_answer* answer) {
  return size_of(answer, "ovt_answer");
}

void write(const IndexedWinner& winner, std::span<const std::int64_t> wave_groups,
           std::string_view reason, std::size_t size, ovt_answer* answer) {
  answer->source = OVT_EXACT;
  write(winner.config, wave_groups, size, answer);
  answer->predicted_us = winner.predicted.count();
  answer->measured_us = winner.measured.count();
  answer->baseline_us = winner.sequential.count();
  write_reason({reason, {winner.validated_at.data(), winner.validated_at.size()}}, answer);
  zero_beyond(size, answer);
}

void write(const Answer& made, std::size_t size, ovt_answer* answer) {
  answer->source = static_cast<ovt_source>(made.source);
  write(made.config, wave_groups_of(made.config), size, answer);
  answer->predicted_us = microseconds(made.predicted);
  answer->measured_us = microseconds(made.measured);
  answer->baseline_us = microseconds(made.baseline);
  write_reason({made.reason}, answer);
  zero_beyond(size, answer);
}

}  // namespace overlaptune::c
