// overlaptune status: what is tuned for which GPUs, how old it is, and what of it answers here.

#include <chrono>
#include <ctime>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

struct StatusFlags {
  CommonFlags common{};
  MachineFlags machine{};
  std::string database{};
};

/// Winners and tuning runs of one platform.
struct Tuned {
  std::int64_t winners = 0;
  std::int64_t unfinished = 0;  ///< tuning runs that did not come to their end
  std::string newest{};         ///< when the newest winner was validated: UTC, ISO 8601
};

std::map<PlatformId, Tuned> tuned_platforms(const Store& store) {
  std::map<PlatformId, Tuned> map;
  for (const StoredWinner& winner : store.winners()) {
    Tuned& tuned = map[winner.platform];
    ++tuned.winners;
    tuned.newest = std::max(tuned.newest, winner.validated_at);
  }
  for (const RunBrief& run : store.runs()) {
    if (run.tuning && !run.finished) ++map[run.platform].unfinished;
  }
  return map;
}

/// Whole days since a time in UTC; none if it cannot be read.
std::optional<std::int64_t> days_since(const std::string& time) {
  std::tm parts{};
  if (strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
  const auto then = std::chrono::system_clock::from_time_t(timegm(&parts));
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now() - then).count();
}

/// The platforms of the machines of this host, opened when they are first asked for.
class Here {
 public:
  explicit Here(MachineOptions options)
      : options_(std::move(options)), why_no_gpus_(why_no_gpus()) {}

  /// "yes", or why results of the platform do not answer on this host.
  std::string answers(const Platform& stored) {
    if (!is_simulated(stored) && !why_no_gpus_.empty()) return "no GPUs here: " + why_no_gpus_;
    const auto& here = platform_like(stored);
    if (!here) return here.error().message;
    if (fingerprint(*here) == fingerprint(stored)) return "yes";
    return fmt::format("no: {}", fmt::join(differences(*here, stored), "; "));
  }

 private:
  /// The platform of as many ranks with the same permission, or why there is none.
  const Expected<Platform>& platform_like(const Platform& stored) {
    const std::string machine = is_simulated(stored) ? full_name(stored) : stored.machine;
    const auto key = std::tuple(machine, stored.gpu_count, stored.multicast_allowed);
    const auto found = opened_.find(key);
    if (found != opened_.end()) return found->second;
    MachineOptions options = options_;
    options.allow_multicast = stored.multicast_allowed;
    if (!is_simulated(stored)) options.ranks = stored.gpu_count;
    const auto opened = open_machine(machine, options);
    auto platform = opened ? Expected<Platform>((*opened)->platform()) : error_of(opened);
    return opened_.emplace(key, std::move(platform)).first->second;
  }

  MachineOptions options_;
  std::string why_no_gpus_;
  std::map<std::tuple<std::string, int, bool>, Expected<Platform>> opened_{};
};

int status(const StatusFlags& flags, const Session& /*session*/) {
  const Store store(flags.database, Access::read);
  auto tuned = tuned_platforms(store);
  Here here(machine_options(flags.machine, flags.common));
  Table table{
      .name = "status",
      .columns = columns_of(
          "platform, fingerprint, winners, newest, days old, unfinished runs, answers here")};
  std::int64_t winners = 0;
  std::int64_t answering = 0;
  for (const StoredPlatform& stored : store.platforms()) {
    const Tuned& own = tuned[stored.id];
    const std::string answers = here.answers(stored.platform);
    winners += own.winners;
    if (answers == "yes") answering += own.winners;
    table.rows.push_back({full_name(stored.platform), fingerprint(stored.platform), own.winners,
                          own.newest.empty() ? Cell() : Cell(own.newest.substr(0, 10)),
                          cell(days_since(own.newest)), own.unfinished, answers});
  }
  std::string text =
      fmt::format("{}: {} of {} winners answer on this host\n", flags.database, answering, winners);
  if (winners == 0) text += "Nothing is tuned: run `overlaptune tune`\n";
  return print_either(flags.common,
                      {{"database", flags.database},
                       {"winners", winners},
                       {"answering_here", answering},
                       {"platforms", to_json_rows(table)}},
                      text + "\n" + to_markdown(table));
}

}  // namespace

void add_status(CLI::App& root, Session& session) {
  const auto [command, flags] =
      add_command(root, session, "status",
                  "What is tuned for which GPUs, how old it is, and what of it answers here",
                  "overlaptune status --db f.db", status);
  add_database_flag(command, flags.database);
  add_profile_flag(command, flags.machine);
}

}  // namespace overlaptune::cli
