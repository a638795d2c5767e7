// overlaptune probe: measures what the model needs.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/origin.hpp"
#include "cli/output/progress.hpp"
#include "probes/peers.hpp"
#include "query/stored_fit.hpp"
#include "reports/peer_matrix.hpp"
#include "reports/table/bandwidth_table.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

struct ProbeFlags {
  CommonFlags common{};
  MachineFlags machine{};
  std::string database{};
  std::vector<int> ranks{};
  std::vector<Elements> elements{kUsualElements.begin(), kUsualElements.end()};
  bool again = false;
  bool every_bandwidth = false;
  ProbeDepth depth = ProbeDepth::full;
};

std::vector<int> checked_ranks(const std::vector<int>& asked, const Platform& platform) {
  if (asked.empty()) return {platform.gpu_count};
  for (const int ranks : asked) {
    if (ranks > platform.gpu_count) {
      refuse("--ranks {}: expected at most the {} GPUs of {}", ranks, platform.gpu_count,
             full_name(platform));
    }
  }
  return asked;
}

/// All that is stored for the platform, by earlier runs too.
std::vector<Measurement> stored(const Store& store, const Platform& platform) {
  return store.measurements(value_or_throw(store.platform(fingerprint(platform))).id);
}

/// The collectives of these ranks.
Table bandwidths(std::vector<Measurement> measurements, const std::vector<int>& ranks,
                 bool every_point) {
  std::erase_if(measurements, [&](const Measurement& measurement) {
    const auto* collective = std::get_if<CollectiveProbe>(&measurement.probe);
    return collective == nullptr ||
           std::find(ranks.begin(), ranks.end(), collective->ranks) == ranks.end();
  });
  return bandwidth_table(measurements, every_point);
}

/// The peer matrix, or the reason why there is none.
std::string peers(const std::optional<PeerMatrix>& matrix, const Platform& platform) {
  if (matrix) {
    return fmt::format("Peer matrix of {}\n\n{}", full_name(platform), to_markdown(*matrix));
  }
  const std::string reason = why_no_peers(platform);
  return reason.empty() ? "" : fmt::format("No peer matrix: {}.\n", reason);
}

int probe(const ProbeFlags& flags, const Session& session) {
  const auto machine = open(flags.machine, flags.common);
  const Platform& platform = machine->platform();
  const auto ranks = checked_ranks(flags.ranks, platform);
  catch_interrupts();
  Store store(flags.database, Access::create);
  warn_if_simulated(flags.machine, *machine);
  say_what_nodes_leave_out(platform);
  auto plan = probe_plan(platform, machine->transports(), ranks, flags.depth, flags.elements);
  for (const Probe& pair : peer_plan(platform, flags.depth)) plan.push_back(pair);
  const ProbeReport report = [&] {
    ProgressBar bar;
    return value_or_throw(run_probes(*machine, store, plan, provenance(session, flags.common),
                                     flags.again, bar.callback()));
  }();
  store.confirm_place();
  store_fits(store);
  const bool stopped = interrupted() != 0;
  const std::vector<Measurement> measurements = stored(store, platform);
  const Table table = bandwidths(measurements, ranks, flags.every_bandwidth);
  const auto matrix = peer_matrix(measurements);
  if (flags.common.json) {
    OrderedJson document{{"database", flags.database},
                         {"platform", platform.name},
                         {"fingerprint", fingerprint(platform)},
                         {"ranks", ranks},
                         {"measured", report.measured},
                         {"known", report.known},
                         {"skipped", report.skipped},
                         {"too_long", report.too_long},
                         {"stopped", stopped},
                         {"bandwidths", to_json_rows(table)},
                         {"peers", to_json_rows(peer_table(matrix.value_or(PeerMatrix{})))}};
    add_origin(document, platform);
    print_json(document);
  } else {
    print(fmt::format(
        "{6}\n{7}\n{0}: {1} probes measured, {2} known already, {3} not possible here, {8} too "
        "long\n"
        "Database: {4}\n"
        "Next: {5} report --db {4}\n",
        full_name(platform), report.measured, report.known, report.skipped, flags.database,
        session.program, to_markdown(with_machine(table, platform)), peers(matrix, platform),
        report.too_long));
  }
  return stopped ? kSignalBase + interrupted() : kDone;
}

}  // namespace

void add_probe(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "probe", "Measure links, collectives, GEMMs, contention and launch costs",
      "overlaptune probe --machine sim:h200-nvlink-x8 --db f.db", probe);
  add_machine_flags(command, flags.machine);
  add_database_flag(command, flags.database);
  add_parsed(command, "--ranks N,...", flags.ranks, list_of(whole_number(2, kMostRanks)),
             "GPUs of the collectives (all)");
  add_parsed(command, "--dtype TYPE,...", flags.elements, list_of(parse_name<Elements>),
             "Types of the GEMMs: " + names_of<Elements>() + " (bf16, which stands for fp16 too)");
  command.add_flag_callback(
      "--quick", [&depth = flags.depth] { depth = ProbeDepth::quick; },
      "Fewer sizes, CTA counts and shapes; a full probe later adds the rest");
  command.add_flag("--again", flags.again, "Measure what is known already too");
  command.add_flag("--every-bandwidth", flags.every_bandwidth,
                   "Print every collective that is stored, not the fastest of three sizes");
}

}  // namespace overlaptune::cli
