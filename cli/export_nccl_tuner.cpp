// overlaptune export-nccl-tuner: measured collectives as a file for NCCL's example tuner plugin.

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/problem_flags.hpp"
#include "reports/nccl_tuner.hpp"

namespace overlaptune::cli {
namespace {

struct ExportNcclTunerFlags {
  CommonFlags common{};
  std::string database{};
  std::string platform{};
  std::string out{};
  std::string protocol = "simple";
  std::int64_t from = std::int64_t{1} << 20;
  int most_ctas = NcclTunerOptions{}.most_ctas;
};

Expected<std::string> parse_protocol(const std::string& text) {
  constexpr std::array<std::string_view, 3> kNames{"ll", "ll128", "simple"};
  if (std::find(kNames.begin(), kNames.end(), text) != kNames.end()) return text;
  return bad_input(fmt::format("'{}': expected one of ll, ll128, simple", text));
}

/// The file for the plugin. The plugin skips comments and the header line, and reads lines into a
/// buffer of 256 bytes, so no line is longer.
std::string file_of(const Platform& platform, const Table& table) {
  return fmt::format("# overlaptune {}: {:.105}, NCCL {:.20}, platform {}\n# {}", version(),
                     full_name(platform), platform.nccl_version, fingerprint(platform),
                     to_csv(table));
}

int export_rules(const ExportNcclTunerFlags& flags, const Session& /*session*/) {
  const Store store(flags.database, Access::read);
  const StoredPlatform stored = value_or_throw(store.platform(flags.platform));
  const auto made = nccl_tuner_rules(store.measurements(stored.id),
                                     {.from = Bytes{flags.from}, .most_ctas = flags.most_ctas});
  if (made.rules.empty() && made.default_faster > 0) {
    throw Failure(ErrorKind::nothing_validated,
                  fmt::format("{}: at each of the {} measured sizes NCCL's own choice was faster "
                              "than any CTA count, so no rule would help: run NCCL without one",
                              full_name(stored.platform), made.default_faster));
  }
  if (made.rules.empty()) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: no collective of {} bytes or more was measured on rings with "
                              "given CTAs: run `overlaptune probe` into this database first, or "
                              "give a smaller --from or a larger --most-ctas",
                              full_name(stored.platform), flags.from));
  }
  if (made.default_faster > 0) {
    spdlog::warn(
        "left out {} of {} measured sizes, at which NCCL's own choice was faster than any CTA "
        "count",
        made.default_faster, made.default_faster + made.sizes);
  }
  const Table table = nccl_tuner_table(made.rules, flags.protocol);
  const std::string text = flags.common.json
                               ? json_text({{"platform", stored.platform.name},
                                            {"fingerprint", fingerprint(stored.platform)},
                                            {"sizes", made.sizes},
                                            {"default_faster", made.default_faster},
                                            {"rules", to_json_rows(table)}})
                               : file_of(stored.platform, table);
  print_or_write(text, flags.out);
  return kDone;
}

}  // namespace

void add_export_nccl_tuner(CLI::App& root, Session& session) {
  auto flags = std::make_shared<ExportNcclTunerFlags>();
  CLI::App* command = add_command(
      root, "export-nccl-tuner", "Measured collectives as a file for NCCL's example tuner plugin",
      "overlaptune export-nccl-tuner --db f.db --out nccl_tuner.conf", flags->common);
  add_database_flag(*command, flags->database);
  command
      ->add_option(
          "--platform", flags->platform,
          "Stored platform, as in sim:h200-nvlink-x8, or its fingerprint (default: the only one)")
      ->type_name("NAME");
  command->add_option("--out", flags->out, "File to write instead of standard output")
      ->type_name("FILE");
  add_parsed(*command, "--protocol", flags->protocol, parse_protocol,
             "NCCL's protocol that the rules demand: ll, ll128 or simple (the default)")
      ->type_name("NAME");
  add_parsed(*command, "--from", flags->from, parse_bytes,
             "Smallest buffer to give a rule for (1M); NCCL has faster protocols than simple below")
      ->type_name("SIZE");
  add_parsed(*command, "--most-ctas", flags->most_ctas, whole_number(1, flags->most_ctas),
             "Most CTAs that a rule may give, where the rest is for other work (no limit)")
      ->type_name("N");
  on_parsed(*command, session, flags, export_rules);
}

}  // namespace overlaptune::cli
