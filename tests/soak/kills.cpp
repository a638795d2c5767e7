// Commands that write, killed at a call that changes a file: nothing that was there is lost, and
// the next command works.

#include <csignal>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "program.hpp"
#include "sample.hpp"

namespace overlaptune::soak {
namespace {

struct Command {
  std::string arguments;
  bool starts_damaged;  ///< the database that it writes has a damaged winner
  bool starts_empty;    ///< there is none
};

const std::vector<Command> kCommands{
    {"db import --db f.db document.json", false, true},
    {"db import --db f.db document.json", false, false},
    {"db merge --db f.db other.db", false, false},
    {"db merge --db f.db other.db", false, true},
    {"db repair --db f.db", true, false},
    {"tune --db f.db --machine sim:rtx4090-pcie-x4 --quick-probe --top-k 1 --problem "
     "gemm_all_reduce:256,2048,1024:bf16:2",
     false, false}};

void clear(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("f.db") || name == "log") std::filesystem::remove(entry.path());
  }
}

/// The fault of the file after a kill and, for a new one, after the next creation.
std::optional<std::string> fault(const std::filesystem::path& folder, const Command& command,
                                 std::size_t candidates_before) {
  const auto file = folder / "f.db";
  if (!std::filesystem::exists(file)) {
    if (!command.starts_empty) return "the database is gone";
    { const Store made(file, Access::create); }
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().find(".new-") != std::string::npos) {
        return "left behind: " + entry.path().filename().string();
      }
    }
    return std::nullopt;
  }
  const auto found = answers(file, {1, 2});
  if (found.wrong) return found.wrong;
  try {
    const Store store(file, Access::write);
    const auto findings = store.check();
    if (!findings.empty() && !command.starts_damaged) return "not sound: " + findings.front();
    if (!command.starts_empty && store.all_candidates().size() < candidates_before) {
      return "candidates are lost";
    }
  } catch (const Failure& failure) {
    return std::string(failure.what());
  }
  return std::nullopt;
}

}  // namespace

Tally kill_at_file_calls(Bench& bench) {
  make_sample(bench.folder / "sample.db", 1);
  make_sample(bench.folder / "other.db", 2);
  {
    std::ofstream out(bench.folder / "document.json");
    export_json(Store(bench.folder / "other.db", Access::read), out);
  }
  const std::string bytes = samples::read_bytes(bench.folder / "sample.db");
  const std::size_t candidates =
      Store(bench.folder / "sample.db", Access::read).all_candidates().size();
  const auto prepare = [&](const Command& command) {
    clear(bench.folder);
    if (command.starts_empty) return;
    samples::write_bytes(bench.folder / "f.db", bytes);
    if (!command.starts_damaged) return;
    SQLite::Database((bench.folder / "f.db").string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE winners SET predicted_us = 1e40 WHERE m = 3");
  };
  const auto run = [&](const Command& command, std::size_t call) {
    return wait_for(start(bench.folder, command.arguments,
                          {{"LD_PRELOAD", OVERLAPTUNE_KILL_AT},
                           {"SOAK_KILL_AT", std::to_string(call)},
                           {"SOAK_COUNT", (bench.folder / "calls").string()}}));
  };
  std::vector<std::size_t> calls;
  Tally tally;
  for (const Command& command : kCommands) {
    prepare(command);
    const int code = run(command, 0);
    std::size_t count = 0;
    std::ifstream(bench.folder / "calls") >> count;
    tally.count(code == 0 && count > 0, fmt::format("{}: exit {}", command.arguments, code));
    calls.push_back(std::max<std::size_t>(count, 1));
  }
  while (bench.has_time()) {
    const std::size_t which = bench.below(kCommands.size());
    const Command& command = kCommands[which];
    const std::size_t call = 1 + bench.below(calls[which]);
    prepare(command);
    const int code = run(command, call);
    const auto wrong = fault(bench.folder, command, candidates);
    tally.count(!wrong && (code == 128 + SIGKILL || code == 0),
                fmt::format("{}, killed at call {} of {} (exit {}): {}", command.arguments, call,
                            calls[which], code, wrong.value_or("")));
  }
  return tally;
}

}  // namespace overlaptune::soak
