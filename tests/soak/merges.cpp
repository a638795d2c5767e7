// Merges between a sound database and a damaged one, both ways.

#include "sample.hpp"

namespace overlaptune::soak {

Tally merge_damaged(Bench& bench) {
  const auto ours = bench.folder / "ours.db";
  const auto theirs = bench.folder / "theirs.db";
  make_sample(ours, 1);
  make_sample(theirs, 2);
  const std::string sound_bytes = samples::read_bytes(ours);
  const std::string other_bytes = samples::read_bytes(theirs);
  const auto sound = bench.folder / "sound.db";
  const auto damaged = bench.folder / "damaged.db";
  /// Merges, and returns the complaints of times ahead of the clock; none if it was refused.
  const auto merged =
      [](const std::filesystem::path& into,
         const std::filesystem::path& from) -> std::optional<std::vector<std::string>> {
    try {
      return Store(into, Access::write).merge(Store(from, Access::read));
    } catch (const Failure&) {
      return std::nullopt;
    }
  };
  Tally tally;
  while (bench.has_time()) {
    for (const auto& file : {sound, damaged}) {
      for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    }
    samples::write_bytes(sound, sound_bytes);
    samples::write_bytes(damaged, other_bytes);
    const Flip flip = flip_a_bit(damaged, bench);
    const auto before = samples::content(Store(sound, Access::read));
    const auto complaints = merged(sound, damaged);
    const auto findings = Store(sound, Access::read).check();
    // A run of another clock is taken, but not in silence.
    tally.count(findings.size() <= (complaints ? complaints->size() : 0),
                fmt::format("{}: not sound after a merge: {}", flip.what,
                            findings.empty() ? "" : findings.front()));
    const auto after = answers(sound, {1, 2});
    tally.count(
        after.opened == OVT_OK && !after.wrong && after.exact == kWinners,
        fmt::format("{}: answers after a merge: {}", flip.what, after.wrong.value_or("lost")));
    if (!complaints) {
      tally.count(samples::content(Store(sound, Access::read)) == before,
                  flip.what + ": a refused merge changed something");
    }
    samples::write_bytes(sound, sound_bytes);
    (void)merged(damaged, sound);
    const auto other_way = answers(damaged, {1, 2});
    tally.count(!other_way.wrong, fmt::format("{}: answers after a merge into it: {}", flip.what,
                                              other_way.wrong.value_or("")));
  }
  return tally;
}

}  // namespace overlaptune::soak
