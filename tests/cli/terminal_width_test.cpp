// Every command on a terminal: no line of its output is wider than the terminal.

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <pty.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/table/text_table.hpp"
#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

const std::string kModel = std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/models/llama-3-8b.json";

/// The standard output of the program on a terminal of so many columns, without its colours.
std::string on_terminal(const tool::Folder& folder, const std::string& command_line,
                        unsigned short columns) {
  std::vector<std::string> words{OVERLAPTUNE_PROGRAM};
  std::istringstream line(command_line);
  for (std::string word; line >> word;) words.push_back(word);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (dup2(nowhere, STDERR_FILENO) >= 0 && chdir(folder.path().c_str()) == 0) {
      execv(arguments.front(), arguments.data());
    }
    _exit(127);
  }
  EXPECT_GT(child, 0);
  std::string text;
  std::array<char, 4096> part{};
  // At the end of the child the terminal gives an error.
  for (ssize_t bytes = 0; (bytes = read(terminal, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  EXPECT_EQ(status, 0) << command_line << "\n" << text;
  std::erase(text, '\r');
  for (std::size_t at = 0; (at = text.find('\x1b', at)) != text.npos;) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  return text;
}

using Terminal = tool::Tuned;

TEST_F(Terminal, no_line_is_wider) {
  folder->write("lengths.txt", "100\n200\n300\n400\n5000\n6000\n7000\n80000\n");
  const std::string costs =
      std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/sequence_costs/flexsp-a100.json";
  for (const std::string& command : std::vector<std::string>{
           "--help", "tune --help", "machines", "probe --machine sim:rtx4090-pcie-x4 --db f.db",
           tool::kTune + " --resume", "run --machine sim:rtx4090-pcie-x4" + tool::kKnown,
           "query" + tool::kKnown, "query --explain" + tool::kKnown,
           "advise --machine sim:rtx4090-pcie-x4 --tp 4 --tokens 1k --sequence-parallel "
           "both --model " +
               kModel,
           "evaluate --db f.db", "evaluate --machine sim:rtx4090-pcie-x4 --db f.db --untuned 2",
           "report --db f.db", "report --db f.db --compare f.db",
           "step --db f.db --tp 4 --tokens 1k --model " + kModel,
           "sequences --gpus 8 --gpus-per-node 8 --batch 8 --max-length 16k --memory 34G --cut "
           "--picture --model gpt-7b --lengths lengths.txt --costs " +
               costs,
           "whatif --cluster hgx-h100 --op all_reduce --bytes 1G --gpus 8",
           "whatif --cluster hgx-h100 --data-parallel 8 --model " + kModel, "db info --db f.db",
           "db check --db f.db"}) {
    for (const unsigned short columns : std::array<unsigned short, 3>{80, 100, 160}) {
      SCOPED_TRACE(command + " at " + std::to_string(columns));
      std::istringstream lines(on_terminal(*folder, command, columns));
      std::size_t count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_LE(width_of(line), columns) << line;
      }
      EXPECT_GT(count, 0U);
    }
  }
}

TEST_F(Terminal, wide_and_json_keep_whole_lines) {
  const std::string wide = on_terminal(*folder, "report --db f.db --wide", 80);
  EXPECT_EQ(wide, tool::run(*folder, "report --db f.db").out);
  EXPECT_EQ(on_terminal(*folder, "report --db f.db --json", 80),
            tool::run(*folder, "report --db f.db --json").out);
  EXPECT_EQ(on_terminal(*folder, "report --db f.db --format csv", 80),
            tool::run(*folder, "report --db f.db --format csv").out);
}

}  // namespace
}  // namespace overlaptune
