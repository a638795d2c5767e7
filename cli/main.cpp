#include <cstdio>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/usage_errors.hpp"
#include "cli/interrupt.hpp"
#include "core/base/printable.hpp"

namespace overlaptune::cli {
namespace {

/// Prints a message to standard error as one line, whatever it holds.
void complain(std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "overlaptune: %s\n", printable(message).c_str());
}

std::string joined(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    line += (i == 0 ? "" : " ");
    line += argv[i];
  }
  return line;
}

/// Whether a command was given without the subcommand or the options that it needs, and with
/// nothing else.
bool asks_nothing(const CLI::App& app, const CLI::ParseError& error) {
  return error.get_name() == "RequiredError" && app.remaining(true).empty() &&
         !given(app).get_subcommands({}).empty();
}

struct Entry {
  const char* heading;  ///< in the help, by what people come for
  void (*add)(CLI::App& root, Session& session);
};

constexpr Entry kCommands[] = {
    {"Measure", add_machines}, {"Measure", add_probe},  {"Measure", add_tune}, {"Measure", add_run},
    {"Ask", add_query},        {"Plan", add_advise},    {"Ask", add_evaluate}, {"Ask", add_report},
    {"Keep", add_status},      {"Plan", add_sequences}, {"Plan", add_whatif},  {"Plan", add_step},
    {"Keep", add_db},          {"Keep", add_kernels},   {"Keep", add_cache}};

/// Parses and runs the command line. Returns the exit code.
int run(int argc, char** argv) {
  Session session{.command_line = joined(argc, argv)};
  if (argc > 0) session.program = argv[0];
  CLI::App app{"Finds how to overlap tensor-parallel matrix products with their collectives.",
               "overlaptune"};
  app.set_version_flag("--version", std::string("overlaptune ") + version());
  app.footer(
      "Example:\n  overlaptune tune --db f.db --problem gemm_all_reduce:4096,8192,3584:bf16:8\n"
      "Exit codes:\n"
      "  0 done, 2 wrong use or bad input, 3 machine not available, 4 database damaged or not\n"
      "  ours, 5 nothing could be validated, 6 cannot write, 130 stopped by Ctrl-C\n"
      "Environment:\n"
      "  OVERLAPTUNE_CACHE     Folder of the compiled kernels\n"
      "  OVERLAPTUNE_CACHE_MB  Most MiB of it (1024); 0: no cache\n"
      "  OVERLAPTUNE_DB        The database where --db is not given\n"
      "  OVERLAPTUNE_LOG       From which level on is logged: debug, info (the default), warning, "
      "...\n"
      "  OVERLAPTUNE_PORT      Where the ranks of a launcher meet\n"
      "  OVERLAPTUNE_SECRET    What only the ranks of a job know, else OVERLAPTUNE_SECRET_FILE\n"
      "  OVERLAPTUNE_SYSTEM_DB Results under those of a database, not the installed ones; empty: "
      "none\n"
      "  OVERLAPTUNE_WORKER    The worker program, if it does not lie beside this one");
  app.require_subcommand(1);
  app.fallthrough();  // so that --config may follow the command
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_config("--config", "",
                 "File with flags, a section for each command: [tune], db = \"f.db\"; those of the "
                 "command line go before")
      ->type_name("FILE");
  app.get_formatter()->column_width(36);
  for (const Entry& command : kCommands) {
    command.add(app, session);
    app.get_subcommands({}).back()->group(command.heading);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    std::ostringstream text;
    const int code = app.exit(help, text);
    print(text.str());
    return code;
  } catch (const CLI::ParseError& error) {
    if (asks_nothing(app, error)) {
      std::fputs(app.help().c_str(), stderr);
      return static_cast<int>(ErrorKind::bad_input);
    }
    complain(what_is_wrong(app, error) + " (see --help)");
    return static_cast<int>(ErrorKind::bad_input);
  }
  return session.action();
}

int guarded(int argc, char** argv) {
  try {
    start_log();
    report_failed_writes();
    return run(argc, argv);
  } catch (const Ended& ended) {
    return ended.code;
  } catch (const Failure& failure) {
    complain(failure.what());
    return static_cast<int>(failure.kind());
  } catch (const std::bad_alloc&) {
    complain("out of memory: this needs more than the machine has");
    return kInternalError;
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what());
    return kInternalError;
  }
}

}  // namespace
}  // namespace overlaptune::cli

int main(int argc, char** argv) {
  const int code = overlaptune::cli::guarded(argc, argv);
  overlaptune::finish_launched_ranks(code);
  return code;
}
