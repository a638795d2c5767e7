#pragma once
// The forms that measured rows come in, one function each. `parse_rows` chooses. They throw
// `Failure` (bad_input) where `parse_rows` has an error.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "planning/whatif/measured_rows.hpp"

namespace overlaptune::cluster {

using Rows = std::vector<MeasuredRow>;

/// Lines as nccl-tests and rccl-tests print them.
[[nodiscard]] Rows parse_test_log(std::string_view text, const std::string& origin,
                                  Operation asked);
/// JSON of nccl-tests (an object) and of rccl-tests (a list).
[[nodiscard]] Rows parse_test_json(std::string_view text, const std::string& origin,
                                   Operation asked);
/// CSV of any program, of rccl-tests, too.
[[nodiscard]] Rows parse_row_csv(std::string_view text, const std::string& origin);

inline constexpr int kMostGpus = 1 << 20;

/// NaN where the text is no number.
[[nodiscard]] double number(std::string_view text);
/// None where the text is no whole number from `least` to `most`.
[[nodiscard]] std::optional<int> whole(std::string_view text, int least, int most = kMostGpus);
/// Text of a file, short and safe to show.
[[nodiscard]] std::string shown(std::string_view text);

/// The operation of a program of the tests that the text names; none where it names no program.
/// Error: a program whose operation is unknown here.
[[nodiscard]] Expected<std::optional<Operation>> operation_in(std::string_view text);

/// The ranks that a test lists.
class RankList {
 public:
  [[nodiscard]] bool empty() const { return ranks_.empty(); }
  void shorten() { shortened_ = true; }
  /// Error: a rank that is there twice.
  [[nodiscard]] Expected<void> add(int rank, int group);
  /// GPUs of one collective: those of a group. Error: ranks are left out, or groups differ.
  [[nodiscard]] Expected<int> gpus(int gpus_of_process) const;

 private:
  std::set<int> ranks_;
  std::multiset<int> groups_;
  bool shortened_ = false;
};

/// Rows of named columns.
class RowTable {
 public:
  /// Throws: a column is missing.
  RowTable(const std::vector<std::string>& header, const std::string& place);
  /// None: an in-place time. Throws: a cell that cannot be, or a result that was wrong.
  [[nodiscard]] std::optional<MeasuredRow> row(const std::vector<std::string>& cells,
                                               const std::string& place) const;

 private:
  struct Columns {
    std::optional<std::size_t> op{}, gpus{}, ranks{}, gpus_per_rank{}, bytes{}, us{}, in_place{},
        wrong{}, algbw{}, busbw{};
  };
  [[nodiscard]] int gpus_of(const std::vector<std::string>& cells, const std::string& place) const;

  Columns at_{};
  std::size_t columns_ = 0;
};

/// Bus bandwidth over algorithm bandwidth; 0 where they are too small to tell.
[[nodiscard]] double bus_share(double algbw, double busbw);

/// A printed bandwidth in GB/s; 0 where it is no number above 0.
[[nodiscard]] double known_rate(double gb_per_s);

/// A number of bytes, or a size as in 64M or 1GB. NaN where the text is neither.
[[nodiscard]] double bytes_of(const std::string& text);

/// Throws: a test found its own results wrong, or does not say it: a count that is neither 0 nor
/// empty nor N/A (not checked).
void check_wrong(std::string_view count, const std::string& place);

/// Throws a message about a place in a file.
[[noreturn]] void fail_at(const std::string& place, std::string_view message);

/// The sizes of a run, from its settings.
struct Sweep {
  double most = 0;  ///< bytes; 0: not said
  double factor = 1;
  double step = 0;  ///< bytes

  /// Whether rows follow one of so many bytes.
  [[nodiscard]] bool goes_on_after(double bytes) const {
    return (factor > 1 || step > 0) && bytes * factor + step <= most;
  }
};

}  // namespace overlaptune::cluster
