#include "query/snapshot.hpp"

#include <set>

#include <fmt/format.h>

#include "core/check.hpp"

namespace overlaptune {
namespace {

/// The platform's id in a database; none where it does not have the platform. Damaged rows are of
/// other platforms.
std::optional<PlatformId> id_of(const Store& store, const Platform& platform) {
  for (const StoredPlatform& stored : store.platforms([](const DamagedRow&) {})) {
    if (stored.platform == platform) return stored.id;
  }
  return std::nullopt;
}

/// Whether the wish tells all fields of the platform that was chosen.
bool names_all_of(const PlatformWish& wish, const PlatformChoice& choice) {
  return choice.stored && (wish.described || wish.name == fingerprint(choice.platform));
}

/// The measurements of a platform. Where several files have the same probe, the first one counts.
std::vector<Measurement> measurements(const std::vector<std::filesystem::path>& files,
                                      const Platform& platform) {
  std::vector<Measurement> all;
  std::set<Probe> known;
  for (const auto& file : files) {
    const Store store(file, Access::read);
    const auto id = id_of(store, platform);
    if (!id) continue;
    for (const Measurement& measurement : store.measurements(*id)) {
      if (known.insert(measurement.probe).second) all.push_back(measurement);
    }
  }
  return all;
}

/// The valid candidates of a platform, in all files.
std::vector<Candidate> candidates(const std::vector<std::filesystem::path>& files,
                                  const Platform& platform) {
  std::vector<Candidate> all;
  for (const auto& file : files) {
    const Store store(file, Access::read);
    const auto id = id_of(store, platform);
    if (!id) continue;
    for (Candidate& candidate : store.valid_candidates(*id)) all.push_back(std::move(candidate));
  }
  return all;
}

Config config_of(const IndexedWinner& winner, std::span<const std::int64_t> wave_groups) {
  Config config = winner.config;
  if (auto* groups = wave_groups_of(config)) groups->assign(wave_groups.begin(), wave_groups.end());
  return config;
}

std::string_view validated_at(const IndexedWinner& winner) {
  return {winner.validated_at.data(), winner.validated_at.size()};
}

std::string time_text(const std::optional<Microseconds>& time, const Platform& platform) {
  if (!time) return "not known";
  return fmt::format("{:.1f} us{}", time->count(), is_simulated(platform) ? " (simulated)" : "");
}

}  // namespace

AnswerSnapshot::AnswerSnapshot(std::vector<std::filesystem::path> files, const PlatformWish& wish,
                               const std::optional<SystemDatabase>& system)
    : files_(std::move(files)), system_(system) {
  std::vector<Store> stores;
  std::vector<std::vector<Platform>> platforms;
  std::optional<DamagedRow> damaged;
  for (const auto& file : files_) {
    stores.emplace_back(file, Access::read);
    platforms.emplace_back();
    for (StoredPlatform& stored :
         stores.back().platforms([&](const DamagedRow& row) { damaged = row; })) {
      platforms.back().push_back(std::move(stored.platform));
    }
  }
  auto choice = choose_platform(platforms, wish);
  // A damaged platform may be the one that is meant, unless all fields of another one were given.
  if (damaged && !(choice && names_all_of(wish, *choice))) throw DamagedRow(*damaged);
  if (!choice && system_ && !wish.name.empty()) {
    if (auto named = platform_elsewhere(*system_, wish.name))
      choice = PlatformChoice{*named, false};
  }
  choice_ = value_or_throw(std::move(choice));
  if (system_) elsewhere_ = read_elsewhere(*system_, choice_.platform, why_not_elsewhere_);
  exact_reason_ = fmt::format("validated on {} at ", full_name(choice_.platform));
  // Winners of an older version may have configs that are no longer legal.
  const Capabilities capabilities = capabilities_of(choice_.platform);
  for (const Store& store : stores) {
    const auto id = id_of(store, choice_.platform);
    if (!id) continue;
    store.each_brief_winner(
        *id,
        [&](BriefWinner& winner) {
          if (check(winner.problem, winner.config, capabilities)) winners_.add(winner);
        },
        [&](const DamagedWinner& winner) {
          damaged_.emplace(ProblemKey(winner.problem, winner.launch), winner.fault);
        });
  }
  winners_.index();
}

std::optional<Answer> AnswerSnapshot::from_elsewhere(const Problem& problem, Launch launch) const {
  const ProblemKey key(problem, launch);
  if (!elsewhere_ || damaged_.count(key) > 0) return std::nullopt;
  const IndexedWinner* const winner = elsewhere_->winners.find(key);
  if (winner == nullptr) return std::nullopt;
  return Answer{
      .source = Source::predicted,
      .reason = fmt::format("tuned elsewhere on {} at {} ({})", full_name(elsewhere_->platform),
                            validated_at(*winner), elsewhere_->difference),
      .config = config_of(*winner, elsewhere_->winners.wave_groups(*winner)),
      .predicted = winner->measured,
      .baseline = winner->sequential};
}

std::string AnswerSnapshot::about_system() const {
  if (!system_) return {};
  const std::string file = system_->file.string();
  if (!why_not_elsewhere_.empty()) return "system database: not read: " + why_not_elsewhere_ + "\n";
  if (!elsewhere_) return fmt::format("system database: {}: no such GPUs and links\n", file);
  return fmt::format("system database: {}: {} winners of {} ({})\n", file,
                     elsewhere_->winners.size(), full_name(elsewhere_->platform),
                     elsewhere_->difference);
}

const Expected<LearnedModel>& AnswerSnapshot::model() const {
  std::call_once(fitted_, [&] {
    // A platform that is not stored has neither probes nor candidates.
    const bool own = choice_.stored || !elsewhere_;
    const Platform& platform = own ? choice_.platform : elsewhere_->platform;
    const auto files = own ? files_ : std::vector{elsewhere_->file};
    try {
      model_ = learned_model(platform, measurements(files, platform), candidates(files, platform));
    } catch (const Failure& failure) {
      model_ = tl::make_unexpected(Error{failure.kind(), failure.what()});
    }
  });
  return *model_;
}

AnswerCache::Value AnswerSnapshot::without_winner(const Problem& problem, Launch launch) const {
  const ProblemKey key(problem, launch);
  return cache_.get(key, [&] {
    if (!choice_.stored && !elsewhere_) return Answer{.reason = choice_.unlike};
    const auto fitted = [&]() -> const Expected<LearnedModel>& { return model(); };
    if (!choice_.stored) {
      return answer_without_winner(
          choice_.platform, problem, launch, fitted,
          fmt::format("probed elsewhere on {} ({}), no winner is stored "
                      "for this problem and launch",
                      full_name(elsewhere_->platform), elsewhere_->difference));
    }
    const auto damaged = damaged_.find(key);
    if (damaged == damaged_.end()) {
      return answer_without_winner(choice_.platform, problem, launch, fitted);
    }
    return answer_without_winner(choice_.platform, problem, launch, fitted,
                                 damaged_winner(damaged->second));
  });
}

std::shared_ptr<const AnswerSnapshot> system_answers(const Platform& platform) {
  const auto system = system_database();
  if (!system || is_simulated(platform)) return nullptr;
  return std::make_shared<const AnswerSnapshot>(std::vector<std::filesystem::path>{},
                                                PlatformWish{.described = platform}, system);
}

std::string explanation(const AnswerSnapshot& snapshot, const Problem& problem, Launch launch) {
  const PlatformChoice& choice = snapshot.platform();
  std::string text = fmt::format("problem: {}, {}\nplatform: {} (fingerprint {}{})\n",
                                 to_string(problem), to_string(launch), full_name(choice.platform),
                                 fingerprint(choice.platform), choice.stored ? "" : ", not stored");
  for (const auto& file : snapshot.files()) {
    text += fmt::format("database: {}\n", file.string());
  }
  text += snapshot.about_system();
  text += fmt::format("winners: {}\n", snapshot.winners());
  Answer answer;
  if (const IndexedWinner* winner = snapshot.winner(problem, launch)) {
    answer = {.source = Source::exact,
              .reason = fmt::format("{}{}", snapshot.exact_reason(), validated_at(*winner)),
              .config = config_of(*winner, snapshot.wave_groups(*winner)),
              .predicted = winner->predicted,
              .measured = winner->measured,
              .baseline = winner->sequential};
  } else if (auto elsewhere = snapshot.from_elsewhere(problem, launch)) {
    answer = std::move(*elsewhere);
  } else {
    answer = *snapshot.without_winner(problem, launch);
  }
  return text + fmt::format(
                    "answer: {}\nreason: {}\nconfig: {}\npredicted: {}\nmeasured: {}\n"
                    "sequential: {}\n",
                    to_string(answer.source), answer.reason, to_string(answer.config),
                    time_text(answer.predicted, choice.platform),
                    time_text(answer.measured, choice.platform),
                    time_text(answer.baseline, choice.platform));
}

}  // namespace overlaptune
