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

std::string time_text(const std::optional<Microseconds>& time) {
  return time ? fmt::format("{:.1f} us", time->count()) : "not known";
}

}  // namespace

Snapshot::Snapshot(std::vector<std::filesystem::path> files, const PlatformWish& wish)
    : files_(std::move(files)) {
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
  choice_ = value_or_throw(std::move(choice));
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

const Expected<LearnedModel>& Snapshot::model() const {
  std::call_once(fitted_, [&] {
    try {
      model_ = learned_model(choice_.platform, measurements(files_, choice_.platform),
                             candidates(files_, choice_.platform));
    } catch (const Failure& failure) {
      model_ = tl::make_unexpected(Error{failure.kind(), failure.what()});
    }
  });
  return *model_;
}

AnswerCache::Value Snapshot::without_winner(const Problem& problem, Launch launch) const {
  const ProblemKey key(problem, launch);
  return cache_.get(key, [&] {
    if (!choice_.stored) return Answer{.reason = choice_.unlike};
    const auto fitted = [&]() -> const Expected<LearnedModel>& { return model(); };
    const auto damaged = damaged_.find(key);
    if (damaged == damaged_.end()) {
      return answer_without_winner(choice_.platform, problem, launch, fitted);
    }
    return answer_without_winner(choice_.platform, problem, launch, fitted,
                                 damaged_winner(damaged->second));
  });
}

std::string explanation(const Snapshot& snapshot, const Problem& problem, Launch launch) {
  const PlatformChoice& choice = snapshot.platform();
  std::string text = fmt::format("problem: {}, {}\nplatform: {} (fingerprint {}{})\n",
                                 to_string(problem), to_string(launch), full_name(choice.platform),
                                 fingerprint(choice.platform), choice.stored ? "" : ", not stored");
  for (const auto& file : snapshot.files()) {
    text += fmt::format("database: {}\n", file.string());
  }
  text += fmt::format("winners: {}\n", snapshot.winners());
  Answer answer;
  if (const IndexedWinner* winner = snapshot.winner(problem, launch)) {
    const std::string_view when(winner->validated_at.data(), winner->validated_at.size());
    answer = {.source = Source::exact,
              .reason = fmt::format("{}{}", snapshot.exact_reason(), when),
              .config = config_of(*winner, snapshot.wave_groups(*winner)),
              .predicted = winner->predicted,
              .measured = winner->measured,
              .baseline = winner->sequential};
  } else {
    answer = *snapshot.without_winner(problem, launch);
  }
  return text + fmt::format(
                    "answer: {}\nreason: {}\nconfig: {}\npredicted: {}\nmeasured: {}\n"
                    "sequential: {}\n",
                    to_string(answer.source), answer.reason, to_string(answer.config),
                    time_text(answer.predicted), time_text(answer.measured),
                    time_text(answer.baseline));
}

}  // namespace overlaptune
