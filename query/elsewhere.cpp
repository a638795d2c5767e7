#include "query/elsewhere.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/capabilities.hpp"
#include "db/store.hpp"

namespace overlaptune {
namespace {

/// Runs `read` on the open database. A failure is thrown only for a file that the user named.
template <class Read>
auto guarded(const SystemDatabase& system, std::string& why_not, const Read& read)
    -> decltype(read(std::declval<const Store&>())) {
  try {
    return read(Store(system.file, Access::settled));
  } catch (const Failure& failure) {
    if (system.is_named) throw;
    why_not = failure.what();
    return std::nullopt;
  }
}

std::vector<Platform> sound_platforms(const Store& store) {
  std::vector<Platform> list;
  for (StoredPlatform& stored : store.platforms([](const DamagedRow&) {})) {
    list.push_back(std::move(stored.platform));
  }
  return list;
}

std::string difference(const Platform& here, const Platform& there, const Store& store,
                       PlatformId id) {
  const auto fields = differences(here, there);
  std::string text =
      fields.empty() ? "the same in every field" : fmt::format("{}", fmt::join(fields, "; "));
  if (const auto run = store.last_tuning_run(id); run && !run->provenance.host.empty()) {
    text += fmt::format("; tuned on host {}", run->provenance.host);
  }
  return text;
}

}  // namespace

std::optional<Elsewhere> read_elsewhere(const SystemDatabase& system, const Platform& here,
                                        std::string& why_not) {
  if (is_simulated(here)) return std::nullopt;
  return guarded(system, why_not, [&](const Store& store) -> std::optional<Elsewhere> {
    const auto platforms = sound_platforms(store);
    const Platform* const there = nearest_alike(here, platforms);
    if (there == nullptr) return std::nullopt;
    const PlatformId id = value_or_throw(store.platform(fingerprint(*there))).id;
    Elsewhere made{
        .file = system.file, .platform = *there, .difference = difference(here, *there, store, id)};
    const auto answer = [&](const StoredWinner& stored) {
      const Candidate& winner = stored.winner.candidate;
      return Answer{.source = Source::predicted,
                    .reason = fmt::format("tuned elsewhere on {} at {} ({})", full_name(*there),
                                          stored.validated_at, made.difference),
                    .config = winner.config,
                    .predicted = winner.measured->median,
                    .baseline = stored.winner.sequential};
    };
    add_winners(made.winners, store, id, capabilities_of(here), answer,
                [](const DamagedWinner&) {});  // it does not answer
    return made;
  });
}

std::optional<Platform> platform_elsewhere(const SystemDatabase& system, const std::string& name) {
  std::string ignored;
  return guarded(system, ignored, [&](const Store& store) -> std::optional<Platform> {
    const auto stored = store.platform(name);
    if (!stored || is_simulated(stored->platform)) return std::nullopt;
    return stored->platform;
  });
}

}  // namespace overlaptune
