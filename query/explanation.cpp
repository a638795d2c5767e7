// An answer as text for people.

#include <fmt/format.h>

#include "core/capabilities.hpp"
#include "query/snapshot.hpp"

namespace overlaptune {
namespace {

std::string time_text(const std::optional<Microseconds>& time, const Platform& platform) {
  if (!time) return "not known";
  return fmt::format("{:.1f} us{}", time->count(), is_simulated(platform) ? " (simulated)" : "");
}

}  // namespace

std::string explanation(const AnswerSnapshot& snapshot, const Problem& problem,
                        const Terms& terms) {
  const PlatformChoice& choice = snapshot.platform();
  std::string text =
      fmt::format("problem: {}, {}\nplatform: {} (fingerprint {}{})\n", to_string(problem),
                  to_string(terms.launch), full_name(choice.platform), fingerprint(choice.platform),
                  choice.stored ? "" : ", not stored");
  if (const std::string left_out = left_out_in_words(choice.platform); !left_out.empty()) {
    text += fmt::format("nodes: {}\n", left_out);
  }
  for (const auto& file : snapshot.files()) {
    text += fmt::format("database: {}\n", file.string());
  }
  text += snapshot.about_system();
  text += fmt::format("winners: {}\n", snapshot.winners());
  if (!terms.strategies.empty()) text += fmt::format("allowed: {}\n", names_of(terms.strategies));
  if (terms.free_sms > 0) text += fmt::format("free SMs: {}\n", terms.free_sms);
  const Answer answer = value_or_throw(snapshot.answer(problem, terms));
  return text + fmt::format(
                    "answer: {}\nreason: {}\nconfig: {}\npredicted: {}\nmeasured: {}\n"
                    "sequential: {}\n",
                    to_string(answer.source), answer.reason, to_string(answer.config),
                    time_text(answer.predicted, choice.platform),
                    time_text(answer.measured, choice.platform),
                    time_text(answer.baseline, choice.platform));
}

}  // namespace overlaptune
