// The output of nccl-tests (its README.md and doc/PERFORMANCE.md), of its older versions, too:
//
//     # nThread 1 nGpus 8 minBytes ...
//     #  Rank  0 Group  0 Pid ... device  0 [0x18] NVIDIA H200
//     #       size         count      type   redop    root     time   algbw   busbw #wrong  ...
//          1048576        262144     float     sum      -1    33.21   31.57   55.25      0  ...

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "cluster/measured_rows.hpp"
#include "core/printable.hpp"

namespace overlaptune::cluster {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The line without the rank that `mpirun --tag-output` puts before it: "[1,0]<stdout>:".
std::string untagged(const std::string& line) {
  constexpr std::string_view kTag = "<stdout>:";
  const std::size_t tag = line.find(kTag);
  return line.starts_with('[') && tag != std::string::npos ? line.substr(tag + kTag.size()) : line;
}

/// The programs of nccl-tests that measure an operation.
std::optional<Operation> operation_in(std::string_view text) {
  constexpr std::pair<std::string_view, Operation> kPrograms[] = {
      {"all_reduce_perf", Operation::all_reduce},
      {"reduce_scatter_perf", Operation::reduce_scatter},
      {"all_gather_perf", Operation::all_gather},
      {"alltoall_perf", Operation::all_to_all},
      {"sendrecv_perf", Operation::send}};
  for (const auto& [program, operation] : kPrograms) {
    if (text.find(program) != std::string_view::npos) return operation;
  }
  return std::nullopt;
}

double number(const std::string& text) {
  double value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && rest == text.data() + text.size() ? value : std::nan("");
}

/// What the lines that begin with # say.
struct Heading {
  std::optional<Operation> operation{};
  int ranks = 0;  ///< lines of devices
  int threads = 1;
  int gpus_each = 1;     ///< of a thread
  std::size_t time = 5;  ///< place of the out-of-place time in a row

  void read(const std::vector<std::string>& words, const std::string& line) {
    if (const auto found = operation_in(line)) operation = found;
    if (words.size() > 3 && words[1] == "Rank") ++ranks;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i - 1] == "nThread") threads = static_cast<int>(number(words[i]));
      if (words[i - 1] == "nGpus") gpus_each = static_cast<int>(number(words[i]));
      if (words[i] == "time" && words[1] == "size") {
        time = i - 1;
        return;
      }
    }
  }
  [[nodiscard]] int gpus() const { return ranks > 0 ? ranks : threads * gpus_each; }
};

}  // namespace

bool is_nccl_tests(std::string_view text) {
  return text.find("nThread") != std::string_view::npos ||
         text.find("algbw") != std::string_view::npos;
}

Expected<std::vector<MeasuredRow>> parse_nccl_tests(std::string_view text,
                                                    const std::string& origin, Operation asked) {
  Heading heading;
  std::vector<MeasuredRow> rows;
  std::vector<std::string> places;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int at = 1; std::getline(lines, line); ++at) {
    const auto words = words_of(untagged(line));
    if (words.empty()) continue;
    if (words.front().front() == '#') {
      // A second test begins with the line of its threads; its devices are counted anew.
      if (words.size() > 1 && words[1] == "nThread") heading.ranks = 0;
      heading.read(words, line);
      continue;
    }
    const double bytes = number(words.front());
    if (std::isnan(bytes) || words.size() <= heading.time + 2) {
      if (const auto found = operation_in(line)) heading.operation = found;
      continue;  // lines of launchers and logs
    }
    if (bytes == 0) continue;
    const std::string place = fmt::format("{}: line {}", origin, at);
    const double us = number(words[heading.time]);
    if (!(us > 0) || !(bytes > 0)) {
      return bad_input(fmt::format("{}: time = '{}': expected a number above 0", place,
                                   printable(words[heading.time].substr(0, 40))));
    }
    if (heading.gpus() < 2) {
      return bad_input(place + ": expected lines '# Rank ...' that list at least 2 GPUs before it");
    }
    places.push_back(place);
    rows.push_back({heading.operation.value_or(asked), heading.gpus(), bytes, us});
  }
  if (rows.empty()) return bad_input(origin + ": expected rows of nccl-tests, found none");
  if (const auto good = check_rows(rows, places); !good) return error_of(good);
  return rows;
}

}  // namespace overlaptune::cluster
