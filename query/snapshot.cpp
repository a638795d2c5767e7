#include "query/snapshot.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/config/check.hpp"

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

/// Calls `visit(store, id)` for each file that has the platform.
template <class Visit>
void each_file_with(const Platform& platform, const std::vector<std::filesystem::path>& files,
                    const Visit& visit) {
  for (const auto& file : files) {
    const Store store(file, Access::read);
    if (const auto id = id_of(store, platform)) visit(store, *id);
  }
}

/// The measurements of a platform. Where several files have the same probe, the first one counts.
std::vector<Measurement> measurements(const std::vector<std::filesystem::path>& files,
                                      const Platform& platform) {
  std::vector<Measurement> all;
  std::set<Probe> known;
  each_file_with(platform, files, [&](const Store& store, PlatformId id) {
    for (const Measurement& measurement : store.measurements(id)) {
      if (known.insert(measurement.probe).second) all.push_back(measurement);
    }
  });
  return all;
}

/// The stored fits of a platform. One of a single file serves where no other file adds to its
/// measurements.
std::vector<Fit> stored_fits(const std::vector<std::filesystem::path>& files,
                             const Platform& platform) {
  std::vector<Fit> all;
  each_file_with(platform, files, [&](const Store& store, PlatformId id) {
    if (auto fit = store.fit(id)) all.push_back(std::move(*fit));
  });
  return all;
}

/// The valid candidates of a platform in each file that has it.
std::vector<std::vector<Candidate>> candidates(const std::vector<std::filesystem::path>& files,
                                               const Platform& platform) {
  std::vector<std::vector<Candidate>> all;
  each_file_with(platform, files, [&](const Store& store, PlatformId id) {
    all.push_back(store.valid_candidates(id));
  });
  return all;
}

/// The answer that a measured config of the platform is; `where` is the platform's name.
Answer fastest_allowed(const MeasuredConfig& measured, const Terms& terms, std::string_view where) {
  return {.source = Source::exact,
          .reason = fmt::format("the fastest measured config of the allowed strategies ({}) on {}",
                                names_of(terms.strategies), where),
          .config = measured.config,
          .predicted = measured.predicted,
          .measured = measured.measured,
          .baseline = measured.sequential};
}

/// The answer for an exclusive world, where nothing was measured without a gate, from the one for
/// the other worlds: its times are predictions.
Expected<Answer> without_gate(Expected<Answer> behind_a_gate) {
  if (!behind_a_gate || behind_a_gate->source != Source::exact) return behind_a_gate;
  Answer& answer = *behind_a_gate;
  answer.source = Source::predicted;
  answer.predicted = std::exchange(answer.measured, std::nullopt);
  answer.reason =
      "the times are those behind a gate, nothing was measured without: " + answer.reason;
  return behind_a_gate;
}

/// Limits the memory that a caller with ever new shapes can make the cache take.
constexpr std::size_t kMostCached = 16384;

}  // namespace

AnswerSnapshot::AnswerSnapshot(std::vector<std::filesystem::path> files, const PlatformWish& wish,
                               const std::optional<SystemDatabase>& system)
    : files_(std::move(files)), system_(system) {
  std::vector<Store> stores;
  std::vector<std::vector<Platform>> platforms;
  std::optional<DamagedRow> damaged;
  for (const auto& file : files_) {
    const Store& store = stores.emplace_back(file, Access::read);
    if (const auto fault = store.log_fault()) {
      throw Failure(ErrorKind::bad_database,
                    fmt::format("database '{}': {}", file.string(), *fault));
    }
    platforms.emplace_back();
    for (StoredPlatform& stored : store.platforms([&](const DamagedRow& row) { damaged = row; })) {
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
  const auto exact = [where = full_name(choice_.platform)](const StoredWinner& stored) {
    const Candidate& winner = stored.winner.candidate;
    return Answer{.source = Source::exact,
                  .reason = fmt::format("validated on {} at {}", where, stored.validated_at),
                  .config = winner.config,
                  .predicted = winner.predicted,
                  .measured = winner.measured->median,
                  .baseline = stored.winner.sequential};
  };
  for (const Store& store : stores) {
    const auto id = id_of(store, choice_.platform);
    if (!id) continue;
    add_winners(winners_, store, *id, capabilities_of(choice_.platform), exact,
                [&](const DamagedWinner& winner) {
                  damaged_.emplace(PackedProblem(winner.problem, winner.launch), winner.fault);
                });
  }
}

const Answer* AnswerSnapshot::winner(const Problem& problem, Launch launch) const {
  const auto found = winners_.find({problem, launch});
  return found == winners_.end() ? nullptr : &found->second;
}

const Answer* AnswerSnapshot::winner(const Problem& problem, const Terms& terms) const {
  const Answer* const found = winner(problem, terms.launch);
  const bool answers =
      found != nullptr && terms.free_sms == 0 && allows(terms, strategy_of(found->config));
  return answers ? found : nullptr;
}

std::optional<Answer> AnswerSnapshot::from_elsewhere(const Problem& problem,
                                                     const Terms& terms) const {
  const PackedProblem key(problem, terms.launch);
  if (!elsewhere_ || damaged_.count(key) > 0) return std::nullopt;
  const auto winner = elsewhere_->winners.find(key);
  if (winner != elsewhere_->winners.end() && allows(terms, strategy_of(winner->second.config))) {
    return winner->second;
  }
  if (terms.strategies.empty()) return std::nullopt;
  const MeasuredConfig* const config = measured().elsewhere.fastest(problem, terms);
  if (config == nullptr) return std::nullopt;
  return Answer{
      .source = Source::predicted,
      .reason = fmt::format(
          "tuned elsewhere: the fastest measured config of the allowed strategies "
          "({}) on {} ({})",
          names_of(terms.strategies), full_name(elsewhere_->platform), elsewhere_->difference),
      .config = config->config,
      .predicted = config->measured,
      .baseline = config->sequential};
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

const AnswerSnapshot::Measured& AnswerSnapshot::measured() const {
  std::call_once(read_, [&] {
    auto read = outcome_of([&] { return read_measured(); });
    measured_ = read ? std::move(*read) : Measured{.model = error_of(read)};
  });
  return *measured_;
}

AnswerSnapshot::Measured AnswerSnapshot::read_measured() const {
  const Capabilities capabilities = capabilities_of(choice_.platform);
  std::vector<std::vector<Candidate>> own;
  std::vector<std::vector<Candidate>> others;
  // A platform that is not stored has neither probes nor candidates.
  const bool is_own = choice_.stored || !elsewhere_;
  if (is_own) own = candidates(files_, choice_.platform);
  if (elsewhere_) {
    try {
      others = candidates({elsewhere_->file}, elsewhere_->platform);
    } catch (const Failure&) {
      if (!is_own) throw;  // the user's own files answer without it
    }
  }
  const Platform& platform = is_own ? choice_.platform : elsewhere_->platform;
  std::vector<Candidate> lessons;
  for (const auto& list : is_own ? own : others) {
    lessons.insert(lessons.end(), list.begin(), list.end());
  }
  const auto files = is_own ? files_ : std::vector{elsewhere_->file};
  Measured read{.model = learned_model(platform, measurements(files, platform), lessons,
                                       stored_fits(files, platform))};
  for (const auto& list : own) read.files.emplace_back(list, capabilities);
  for (const auto& list : others) read.elsewhere = MeasuredConfigs(list, capabilities);
  return read;
}

std::optional<Answer> AnswerSnapshot::measured_answer(const Problem& problem,
                                                      const Terms& terms) const {
  const Answer* const stored = winner(problem, terms.launch);
  if (stored != nullptr && allows(terms, strategy_of(stored->config))) return *stored;
  if (!terms.strategies.empty()) {
    for (const MeasuredConfigs& file : measured().files) {
      if (const MeasuredConfig* const found = file.fastest(problem, terms)) {
        return fastest_allowed(*found, terms, full_name(choice_.platform));
      }
    }
  }
  return from_elsewhere(problem, terms);
}

Expected<Answer> AnswerSnapshot::made_without_winner(const Problem& problem,
                                                     const Terms& terms) const {
  if (!choice_.stored && !elsewhere_) return baseline_answer(choice_.unlike, terms);
  const Answer* const stored = winner(problem, terms.launch);
  auto known = measured_answer(problem, terms);
  if (known && terms.free_sms == 0) return std::move(*known);
  const auto damaged = damaged_.find({problem, terms.launch});
  if (!known && damaged == damaged_.end() && is_exclusive(terms.launch)) {
    Terms gated = terms;
    gated.launch = in_world(terms.launch, false);
    if (const Answer* const found = winner(problem, gated)) return without_gate(*found);
    return without_gate(made_without_winner(problem, gated));
  }
  Unmeasured asked{.platform = choice_.platform,
                   .model = [&]() -> const Expected<LearnedModel>& { return measured().model; },
                   .on_all_sms = std::move(known)};
  if (stored != nullptr) {
    asked.why = fmt::format(
        "the winner of this problem and launch is {}, and of what is allowed ({}) nothing was "
        "measured",
        to_string(strategy_of(stored->config)), names_of(terms.strategies));
  } else if (damaged != damaged_.end()) {
    asked.why = fmt::format(
        "the winner of this problem and launch is damaged ({}; see `overlaptune db repair`)",
        damaged->second);
  }
  if (!choice_.stored) {
    asked.why = fmt::format("probed elsewhere on {} ({}), {}", full_name(elsewhere_->platform),
                            elsewhere_->difference, kNoWinner);
  }
  return answer_unmeasured(asked, problem, terms);
}

Expected<Answer> AnswerSnapshot::answer(const Problem& problem, const Terms& terms) const {
  if (const Answer* const found = winner(problem, terms)) return *found;
  if (const auto fitting = fits(terms, choice_.platform); !fitting) return error_of(fitting);
  const QuestionKey key(problem, terms);
  {
    const std::lock_guard lock(cache_mutex_);
    if (const auto found = cache_.find(key); found != cache_.end()) return found->second;
  }
  auto made = made_without_winner(problem, terms);
  const std::lock_guard lock(cache_mutex_);
  if (cache_.size() >= kMostCached) cache_.clear();
  return cache_.emplace(key, std::move(made)).first->second;
}

Answer AnswerSnapshot::answer(const Problem& problem, Launch launch) const {
  return value_or_throw(answer(problem, Terms{.launch = launch}));
}

}  // namespace overlaptune
