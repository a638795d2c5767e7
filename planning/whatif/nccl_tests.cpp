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
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/printable.hpp"
#include "core/base/units.hpp"
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

constexpr const char* kDigits = "0123456789";

/// A count, or one with a unit as in 64M.
bool is_size(const std::string& word) {
  const std::size_t unit = word.find_first_not_of(kDigits);
  if (unit == std::string::npos) return true;
  return unit > 0 && std::isalpha(static_cast<unsigned char>(word[unit])) != 0 &&
         parse_bytes(word).has_value();
}

/// Where a row begins: a size and a count, before a type. None in other lines.
std::optional<std::size_t> row_in(const Words& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const auto letter = static_cast<unsigned char>(words[i + 2].front());
    if (is_size(words[i]) && is_size(words[i + 1]) && std::isalpha(letter) != 0) return i;
  }
  return std::nullopt;
}

/// The size of a line that has a type where rows have it, behind two words that are no sizes:
/// "1,048,576 262,144 float". None in other lines.
std::optional<std::string> odd_size_in(const Words& words) {
  constexpr std::array<std::string_view, 14> kTypes{
      "int8",  "uint8",  "int32",    "uint32", "int64",  "uint64",   "half",
      "float", "double", "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"};
  const auto begins_with_digit = [](const std::string& word) {
    return std::isdigit(static_cast<unsigned char>(word.front())) != 0;
  };
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const bool is_type = std::find(kTypes.begin(), kTypes.end(), words[i + 2]) != kTypes.end();
    if (is_type && begins_with_digit(words[i]) && begins_with_digit(words[i + 1])) return words[i];
  }
  return std::nullopt;
}

/// Where a heading begins: at a # that begins a word. A prefix may have one within.
std::size_t heading_in(std::string_view line) {
  for (auto at = line.find('#'); at != line.npos; at = line.find('#', at + 1)) {
    const bool is_within = at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0;
    if (!is_within) return at;
  }
  return line.npos;
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

/// The number that a setting begins with; 0 where there is none.
double setting(std::string_view word) {
  const double read = number(word.substr(0, word.find('(')));
  return read > 0 ? read : 0;
}

/// Reads what a heading says of the sizes: "maxBytes 1073741824 step: 4(factor)".
void read_sweep(const Words& words, Sweep& sweep) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool reduced = i > 1 && words[i - 2] == "maxBytes" && words[i - 1] == "to";
    if (words[i - 1] == "maxBytes" || reduced) sweep.most = setting(words[i]);
    if (words[i - 1] != "step:") continue;
    const bool is_factor = words[i].ends_with("(factor)");
    sweep.factor = is_factor ? setting(words[i]) : 1;
    sweep.step = is_factor ? 0 : setting(words[i]);
  }
}

/// The number behind the colon of a summary: "# Out of bounds values : 0 OK". 0: there is none.
double count_in_summary(const Words& words) {
  const auto colon = std::find(words.begin(), words.end(), ":");
  const bool has_count = colon != words.end() && colon + 1 != words.end();
  return has_count ? number(*(colon + 1)) : 0;
}

class LogReader {
 public:
  explicit LogReader(Operation asked) : asked_(asked) {}

  void read(std::string_view line, const std::string& place) {
    place_ = place;
    if (const auto failure = failure_in(line); !failure.empty()) {
      fail(printable(failure.substr(0, kShownFailure)) + ": expected a run that ended well");
    }
    const std::size_t hash = heading_in(line);
    const Words words = words_of(line.substr(0, hash));  // a remark may stand behind a row
    const auto first = row_in(words);
    // A row is cut where a run was ended, which `end_run` notices.
    if (first && words.size() > *first + time_ + 2) {
      return read_row(Words(words.begin() + static_cast<std::ptrdiff_t>(*first), words.end()));
    }
    if (const auto odd = odd_size_in(words); odd && !first) {
      fail(fmt::format("size = '{}': expected a whole number of bytes", shown(*odd)));
    }
    if (hash == std::string_view::npos) {
      note_program(line);
    } else {
      read_heading(line.substr(hash));
    }
  }

  [[nodiscard]] Rows rows() && {
    end_run();
    return std::move(rows_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at(place_, message); }

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

  void read_heading(std::string_view heading) {
    note_program(heading);
    const Words words = words_of(heading);
    if (words.size() < 2) return;
    if (words[1] == "nThread") {
      end_run();
      ranks_ = {};  // a second test: its devices are counted anew
      gpus_ = 0;
      gpu_.clear();
    }
    read_sweep(words, sweep_);
    if (words[1] == "size") read_columns(words);
    if (words[1] == "Rank" && words.size() > 3) return read_rank(words);
    if (words[1].find_first_not_of(".[]…") == std::string::npos && !ranks_.empty()) {
      ranks_.shorten();
    }
    if (heading.find("Out of bounds values") != std::string_view::npos &&
        (heading.find("FAIL") != std::string_view::npos || count_in_summary(words) != 0)) {
      fail("out of bounds values, FAILED: expected 0: wrong results have no time");
    }
    read_counts(words);
  }

  void read_counts(const Words& words) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      int* const count = words[i - 1] == "nThread" ? &threads_
                         : words[i - 1] == "nGpus" ? &gpus_each_
                                                   : nullptr;
      if (count == nullptr) continue;
      const auto read = whole(words[i], 1);
      if (!read) {
        fail(fmt::format("{} {}: expected a whole number from 1 to {}", words[i - 1],
                         shown(words[i]), kMostGpus));
      }
      *count = *read;
    }
    if (std::int64_t{threads_} * gpus_each_ > kMostGpus) {
      fail(fmt::format("nThread {} nGpus {}: expected at most {} GPUs", threads_, gpus_each_,
                       kMostGpus));
    }
  }

  void read_rank(const Words& words) {
    const auto rank = whole(words[2], 0);
    if (!rank) fail(fmt::format("Rank {}: expected a number", shown(words[2])));
    const auto group = std::find(words.begin(), words.end(), "Group");
    const bool has_group = group != words.end() && group + 1 != words.end();
    gpus_ = 0;
    gpu_ = name_of_gpu(words);
    const int group_number = has_group ? whole(*(group + 1), 0).value_or(0) : 0;
    if (const auto added = ranks_.add(*rank, group_number); !added) fail(added.error().message);
  }

  void read_columns(const Words& words) {
    const auto time = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return word == "time" || word == "cputime";
    });
    if (time == words.end()) return;
    time_ = static_cast<std::size_t>(time - words.begin()) - 1;
    wrong_.clear();
    deviations_.clear();
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "#wrong") wrong_.push_back(i - 1);
      if (words[i] == "error") deviations_.push_back(i - 1);
    }
  }

  void read_row(const Words& row) {
    const double bytes = bytes_of(row.front());
    if (bytes == 0) return;
    if (!unknown_.empty()) fail(unknown_);
    const double us = number(row[time_]);
    if (!(us > 0) || std::isinf(us)) {
      fail(fmt::format("time = '{}': expected a number above 0", shown(row[time_])));
    }
    for (const std::size_t column : wrong_) {
      if (column < row.size()) check_wrong(row[column], place_);
    }
    for (const std::size_t column : deviations_) {
      if (column >= row.size() || row[column] == "N/A" || !std::isnan(number(row[column])))
        continue;
      fail(fmt::format("error = '{}': expected a number without a mark: wrong results have no time",
                       shown(row[column])));
    }
    count_gpus();
    const double algbw = number(row[time_ + 1]);
    rows_.push_back({operation_.value_or(asked_), gpus_, bytes, us, place_,
                     bus_share(algbw, number(row[time_ + 2])), gpu_, known_rate(algbw), 0});
  }

  void count_gpus() {
    if (gpus_ > 0) return;
    gpus_ = threads_ * gpus_each_;
    if (!ranks_.empty()) {
      const auto listed = ranks_.gpus(gpus_);
      if (!listed) fail(listed.error().message);
      gpus_ = *listed;
    }
    if (gpus_ < 2) fail("expected lines '# Rank ...' that list at least 2 GPUs before it");
  }

  Operation asked_;
  std::string place_{};  ///< of the line at hand
  std::optional<Operation> operation_{};
  std::string unknown_{};  ///< complaint of a program whose operation is unknown
  RankList ranks_{};
  int gpus_ = 0;  ///< of the rows that follow; 0: not counted yet
  int threads_ = 1;
  int gpus_each_ = 1;     ///< of a thread
  std::string gpu_{};     ///< name of the last GPU of the list
  std::size_t time_ = 5;  ///< place of the out-of-place time in a row
  std::vector<std::size_t> wrong_{};
  /// Columns of older tests: how far results are off. Those too far have an asterisk.
  std::vector<std::size_t> deviations_{};
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
    log.read(line, fmt::format("{}: line {}", origin, at));
  }
  Rows rows = std::move(log).rows();
  if (rows.empty()) fail_at(origin, "expected rows of nccl-tests, found none");
  return rows;
}

}  // namespace overlaptune::cluster
