// Bits flipped in a database: no wrong answer, no crash, and what is damaged is known as such.

#include "sample.hpp"

namespace overlaptune::soak {
namespace {

/// The fault after a flip; none where all is as it should be.
std::optional<std::string> fault(const std::filesystem::path& file, const Flip& flip, bool repair) {
  const Answers found = answers(file, {1});
  if (found.wrong) return found.wrong;
  const bool row = flip.table == "winners" || flip.table == "candidates";
  if (row && found.opened != OVT_OK)
    return "one row takes all answers away: " + std::string(ovt_last_error());
  if (flip.table == "winners" && found.exact < kWinners - 1) return "a row takes others away";
  if (flip.table == "candidates" && found.exact != kWinners)
    return "a candidate takes answers away";
  try {
    Store store(file, repair ? Access::write : Access::read);
    const bool told = !store.check().empty();
    if (row && !told) return "`db check` finds nothing";
    if (!repair) return std::nullopt;
    store.repair();
    const auto left = store.check();
    if (!left.empty()) return "not sound after `db repair`: " + left.front();
  } catch (const Failure& failure) {
    if (row) return std::string(failure.what());
    return std::nullopt;  // refused, as a damaged page or platform may be
  }
  const Answers repaired = answers(file, {1});
  if (repaired.wrong) return "after `db repair`: " + *repaired.wrong;
  if (row && repaired.exact < kWinners - 1) return "`db repair` takes answers away";
  return std::nullopt;
}

}  // namespace

Tally flip_bits(Bench& bench) {
  const auto sound = bench.folder / "sound.db";
  make_sample(sound);
  const std::string bytes = samples::read_bytes(sound);
  Tally tally;
  while (bench.has_time()) {
    const auto file = bench.folder / "flipped.db";
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    samples::write_bytes(file, bytes);
    const Flip flip = flip_a_bit(file, bench);
    if (samples::read_bytes(file) == bytes)
      continue;  // the value that was there, or it was refused
    constexpr int kRepairedOneOf = 16;
    const auto wrong = fault(file, flip, bench.below(kRepairedOneOf) == 0);
    tally.count(!wrong, fmt::format("{}: {}", flip.what, wrong.value_or("")));
    for (const auto& entry : std::filesystem::directory_iterator(bench.folder)) {
      if (entry.path().string().find(".before-repair-") != std::string::npos) {
        std::filesystem::remove(entry.path());
      }
    }
  }
  return tally;
}

}  // namespace overlaptune::soak
