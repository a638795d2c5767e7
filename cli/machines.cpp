// overlaptune machines: lists the machines that can be tuned here.

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

struct MachinesFlags {
  CommonFlags common{};
  MachineFlags machine{};
};

int machines(const MachinesFlags& flags, const Session& /*session*/) {
  const auto entries = value_or_throw(list_machines(machine_options(flags.machine, flags.common)));
  Table table{.name = "machines", .columns = columns_of("name, available, description, reason")};
  for (const MachineEntry& entry : entries) {
    table.rows.push_back({entry.name, entry.available, entry.description,
                          entry.reason.empty() ? Cell() : Cell(entry.reason)});
  }
  return print_either(flags.common, {{"machines", to_json_rows(table)}}, to_markdown(table));
}

}  // namespace

void add_machines(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "machines", "List what can be tuned here, by the names --machine takes",
      "overlaptune machines --json", machines);
  add_profile_flag(command, flags.machine);
}

}  // namespace overlaptune::cli
