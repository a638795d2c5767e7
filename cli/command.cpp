#include "cli/command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "cli/commit.hpp"
#include "cli/output/terminal.hpp"
#include "core/base/environment.hpp"
#include "core/base/printable.hpp"
#include "core/base/whole_file.hpp"
#include "reports/table/fitted.hpp"

namespace overlaptune::cli {

const char* version() {
  return OVERLAPTUNE_VERSION;
}

std::string build() {
  const std::string_view built_from = commit();
  return built_from.empty() ? version() : fmt::format("{}+{}", version(), built_from);
}

namespace {

/// Whether output goes to a terminal as it goes to a file. The command line says so once.
bool g_whole_lines = false;

/// The message of a log line, which may hold text of other hosts: `%*` of the pattern below.
class PrintableMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<PrintableMessage>();
  }
};

void set_log_level(spdlog::level::level_enum level) {
  spdlog::set_level(level);
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  // On a terminal a line may follow a progress bar, which it replaces.
  const std::string begin = ::isatty(STDERR_FILENO) == 1 ? "\r\x1b[K" : "";
  formatter->add_flag<PrintableMessage>('*').set_pattern(
      begin + (level <= spdlog::level::debug ? "%^%l%$: %T.%e: %*" : "%^%l%$: %*"));
  spdlog::set_formatter(std::move(formatter));
}

}  // namespace

void start_log() {
  spdlog::set_default_logger(spdlog::stderr_color_mt("overlaptune"));
  set_log_level(spdlog::level::info);
  const auto wanted = environment().log;
  if (!wanted) return;
  const auto level = spdlog::level::from_str(*wanted);  // `off` for an unknown level
  if (level == spdlog::level::off && *wanted != "off") {
    refuse(
        "OVERLAPTUNE_LOG = '{}': expected one of trace, debug, info, warning, error, critical, off",
        *wanted);
  }
  set_log_level(level);
}

CLI::App& add_subcommand(CLI::App& root, const std::string& name, const std::string& description,
                         const std::string& example, CommonFlags& flags) {
  CLI::App& command = *root.add_subcommand(name, description);
  command.footer("Example:\n  " + example);
  add_parsed(command, "--seed N", flags.seed,
             whole_number<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max()),
             "Seed of everything that is random (0)");
  const auto whole_lines = [](const std::string& /*given*/) { g_whole_lines = true; };
  command.add_flag("--json", flags.json, "Print one JSON document")->each(whole_lines);
  command.add_flag_callback(
      "--wide", [] { g_whole_lines = true; },
      "Print whole tables, also where they are wider than the terminal");
  command.add_flag_callback(
      "--verbose",
      [&flags] {
        flags.verbose = true;
        set_log_level(spdlog::level::debug);
      },
      "Log every step, with the time of day");
  return command;
}

void print(const std::string& output) {
  const std::string text = printable_lines(output);
  const bool fits = !g_whole_lines && ::isatty(STDOUT_FILENO) == 1;
  print_own(fits ? fitted(text, terminal_columns(STDOUT_FILENO)) : text);
}

void print_whole_lines(const std::string& output) {
  print_own(printable_lines(output));
}

void print_own(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    if (errno == EPIPE) throw Ended{kDone};  // the reader has seen enough, as in `| head`
    throw Failure(ErrorKind::cannot_write,
                  fmt::format("standard output: cannot be written: {}", std::strerror(errno)));
  }
}

std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void print_json(const nlohmann::ordered_json& document) {
  print_whole_lines(json_text(document));
}

int print_either(const CommonFlags& flags, const nlohmann::ordered_json& document,
                 const std::string& text) {
  if (flags.json) {
    print_json(document);
  } else {
    print(text);
  }
  return kDone;
}

bool is_database(const std::string& file) {
  // A pipe gives its text only once.
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string head(kMagic.size(), ' ');
  std::ifstream stream(file, std::ios::binary);
  return stream.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kMagic;
}

void print_or_write(const std::string& text, const std::string& file) {
  if (file.empty()) {
    print_whole_lines(text);
  } else {
    write_file(file, text);
  }
}

void write_file(const std::string& file, const std::string& output) {
  const std::string text = printable_lines(output);
  const auto fail = [&] {
    throw Failure(ErrorKind::cannot_write,
                  fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
  };
  std::error_code failure;
  if (std::filesystem::exists(file, failure) && !std::filesystem::is_regular_file(file, failure)) {
    // A device or a pipe cannot be replaced.
    std::ofstream stream(file, std::ios::binary);
    if (!(stream << text << std::flush)) fail();
    return;
  }
  if (is_database(file)) refuse("{}: is a database and would be lost: name another file", file);
  constexpr mode_t kAsUsual = 0666;  // the umask takes rights away
  errno = write_whole_file(file, text, IfThere::replace, kAsUsual);
  if (errno != 0) fail();
}

Provenance provenance(const Session& session, const CommonFlags& flags) {
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return {.program_version = build(),
          .host = host,
          .command_line = session.command_line,
          .seed = flags.seed};
}

}  // namespace overlaptune::cli
