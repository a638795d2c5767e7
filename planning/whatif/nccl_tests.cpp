// The lines of nccl-tests (its README.md and doc/PERFORMANCE.md), of its older versions and of
// rccl-tests, too:
//
//     # nThread 1 nGpus 8 minBytes ...
//     #  Rank  0 Group  0 Pid ... device  0 [0x18] NVIDIA H200
//     #       size         count      type   redop    root     time   algbw   busbw #wrong  ...
//          1048576        262144     float     sum      -1    33.21   31.57   55.25      0  ...
//     # Out of bounds values : 0 OK
//
// A launcher may put a prefix before each line: a rank, a pod, the time of day.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/printable.hpp"
#include "planning/whatif/row_forms.hpp"

namespace overlaptune::cluster {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_count(const std::string& word) {
  return std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Where a row begins: a size and a count, before a type. None in other lines.
std::optional<std::size_t> row_in(const Words& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const auto letter = static_cast<unsigned char>(words[i + 2].front());
    if (is_count(words[i]) && is_count(words[i + 1]) && std::isalpha(letter) != 0) return i;
  }
  return std::nullopt;
}

/// The words behind the address of the bus in the line of a rank: "[0x18] NVIDIA H200".
std::string name_of_gpu(const Words& words) {
  const auto bus = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with('[') && word.ends_with(']');
  });
  if (bus == words.end()) return {};
  return fmt::format("{}", fmt::join(bus + 1, words.end(), " "));
}

constexpr std::size_t kShownFailure = 100;

/// The message of a test whose call failed, from its first word on; empty in other lines.
std::string_view failure_in(std::string_view line) {
  for (const char* failure :
       {"Test NCCL failure", "Test CUDA failure", "Test HIP failure", "Test failure"}) {
    if (const std::size_t at = line.find(failure); at != std::string_view::npos) {
      return line.substr(at);
    }
  }
  return {};
}

/// The sizes of a run, from its heading: "maxBytes 1073741824 step: 4(factor)".
struct Sweep {
  double most = 0;  ///< bytes; 0: not said
  double factor = 1;
  double step = 0;  ///< bytes

  void read(const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool reduced = i > 1 && words[i - 2] == "maxBytes" && words[i - 1] == "to";
      if (words[i - 1] == "maxBytes" || reduced) most = value(words[i]);
      if (words[i - 1] != "step:") continue;
      const bool is_factor = words[i].ends_with("(factor)");
      factor = is_factor ? value(words[i]) : 1;
      step = is_factor ? 0 : value(words[i]);
    }
  }
  /// Whether rows follow one of so many bytes.
  [[nodiscard]] bool goes_on_after(double bytes) const {
    return (factor > 1 || step > 0) && bytes * factor + step <= most;
  }

 private:
  /// 0 where there is none.
  static double value(std::string_view word) {
    const double read = number(word.substr(0, word.find('(')));
    return read > 0 ? read : 0;
  }
};

class LogReader {
 public:
  explicit LogReader(Operation asked) : asked_(asked) {}

  Expected<void> read(std::string_view line, const std::string& place) {
    const auto failed = [&](const Error& error) {
      return bad_input(fmt::format("{}: {}", place, error.message));
    };
    if (const auto failure = failure_in(line); !failure.empty()) {
      return bad_input(fmt::format("{}: {}: expected a run that ended well", place,
                                   printable(failure.substr(0, kShownFailure))));
    }
    if (const std::size_t hash = line.find('#'); hash != std::string_view::npos) {
      const auto done = read_heading(line.substr(hash));
      return done ? done : failed(done.error());
    }
    const Words words = words_of(line);
    const auto first = row_in(words);
    // A row is cut where a run was ended, which `end_run` notices.
    if (first && words.size() > *first + time_ + 2) {
      return read_row(Words(words.begin() + static_cast<std::ptrdiff_t>(*first), words.end()),
                      place);
    }
    note_program(line);
    return {};
  }

  [[nodiscard]] std::vector<MeasuredRow> rows() && {
    end_run();
    return std::move(rows_);
  }

 private:
  void end_run() {
    if (rows_.size() > begin_ && sweep_.goes_on_after(rows_.back().bytes)) {
      rows_.back().run_to = sweep_.most;
    }
    begin_ = rows_.size();
    sweep_ = {};
  }

  void note_program(std::string_view line) {
    const auto found = operation_in(line);
    if (!found) {
      unknown_ = found.error().message;
    } else if (*found) {
      operation_ = *found;
      unknown_.clear();
    }
  }

  Expected<void> read_heading(std::string_view heading) {
    note_program(heading);
    const Words words = words_of(heading);
    if (words.size() < 2) return {};
    if (words[1] == "nThread") {
      end_run();
      ranks_ = {};  // a second test: its devices are counted anew
      gpus_ = 0;
      gpu_.clear();
    }
    sweep_.read(words);
    if (words[1] == "size") read_columns(words);
    if (words[1] == "Rank" && words.size() > 3) return read_rank(words);
    if (words[1].find_first_not_of(".[]…") == std::string::npos && !ranks_.empty()) {
      ranks_.shorten();
    }
    if (heading.find("Out of bounds values") != std::string_view::npos &&
        heading.find("FAILED") != std::string_view::npos) {
      return bad_input("out of bounds values, FAILED: expected 0: wrong results have no time");
    }
    return read_counts(words);
  }

  Expected<void> read_counts(const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      int* const count = words[i - 1] == "nThread" ? &threads_
                         : words[i - 1] == "nGpus" ? &gpus_each_
                                                   : nullptr;
      if (count == nullptr) continue;
      const auto read = whole(words[i], 1);
      if (!read) {
        return bad_input(fmt::format("{} {}: expected a whole number from 1 to {}", words[i - 1],
                                     shown(words[i]), kMostGpus));
      }
      *count = *read;
    }
    if (std::int64_t{threads_} * gpus_each_ > kMostGpus) {
      return bad_input(fmt::format("nThread {} nGpus {}: expected at most {} GPUs", threads_,
                                   gpus_each_, kMostGpus));
    }
    return {};
  }

  Expected<void> read_rank(const Words& words) {
    const auto rank = whole(words[2], 0);
    if (!rank) return bad_input(fmt::format("Rank {}: expected a number", shown(words[2])));
    const auto group = std::find(words.begin(), words.end(), "Group");
    const bool has_group = group != words.end() && group + 1 != words.end();
    gpus_ = 0;
    gpu_ = name_of_gpu(words);
    return ranks_.add(*rank, has_group ? whole(*(group + 1), 0).value_or(0) : 0);
  }

  void read_columns(const Words& words) {
    const auto time = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return word == "time" || word == "cputime";
    });
    if (time == words.end()) return;
    time_ = static_cast<std::size_t>(time - words.begin()) - 1;
    wrong_.clear();
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "#wrong") wrong_.push_back(i - 1);
    }
  }

  Expected<void> read_row(const Words& row, const std::string& place) {
    const double bytes = number(row.front());
    if (bytes == 0) return {};
    if (!unknown_.empty()) return bad_input(fmt::format("{}: {}", place, unknown_));
    const double us = number(row[time_]);
    if (!(us > 0) || std::isinf(us)) {
      return bad_input(
          fmt::format("{}: time = '{}': expected a number above 0", place, shown(row[time_])));
    }
    for (const std::size_t column : wrong_) {
      if (column >= row.size()) continue;
      if (auto right = check_wrong(row[column], place); !right) return right;
    }
    const auto gpus = count_gpus();
    if (!gpus) return bad_input(fmt::format("{}: {}", place, gpus.error().message));
    const double algbw = number(row[time_ + 1]);
    rows_.push_back({operation_.value_or(asked_), *gpus, bytes, us, place,
                     bus_share(algbw, number(row[time_ + 2])), gpu_, known_rate(algbw), 0});
    return {};
  }

  Expected<int> count_gpus() {
    if (gpus_ > 0) return gpus_;
    if (!ranks_.empty()) {
      auto listed = ranks_.gpus(threads_ * gpus_each_);
      if (!listed) return listed;
      gpus_ = *listed;
    } else {
      gpus_ = threads_ * gpus_each_;
    }
    if (gpus_ >= 2) return gpus_;
    return bad_input("expected lines '# Rank ...' that list at least 2 GPUs before it");
  }

  Operation asked_;
  std::optional<Operation> operation_{};
  std::string unknown_{};  ///< complaint of a program whose operation is unknown
  RankList ranks_{};
  int gpus_ = 0;  ///< of the rows that follow; 0: not counted yet
  int threads_ = 1;
  int gpus_each_ = 1;     ///< of a thread
  std::string gpu_{};     ///< name of the last GPU of the list
  std::size_t time_ = 5;  ///< place of the out-of-place time in a row
  std::vector<std::size_t> wrong_{};
  Sweep sweep_{};
  std::vector<MeasuredRow> rows_{};
  std::size_t begin_ = 0;  ///< of the rows of this run
};

}  // namespace

Rows parse_test_log(std::string_view text, const std::string& origin, Operation asked) {
  LogReader log(asked);
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int at = 1; std::getline(lines, line); ++at) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto read = log.read(line, fmt::format("{}: line {}", origin, at));
    if (!read) return error_of(read);
  }
  auto rows = std::move(log).rows();
  if (rows.empty()) return bad_input(origin + ": expected rows of nccl-tests, found none");
  return rows;
}

}  // namespace overlaptune::cluster
