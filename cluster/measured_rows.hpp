#pragma once
// Measured times of collectives, from a CSV file or the output of nccl-tests.

#include <string>
#include <string_view>
#include <vector>

#include "cluster/algorithms.hpp"

namespace overlaptune::cluster {

/// The time of an operation whose whole buffer has `bytes` (`Question`).
struct MeasuredRow {
  Operation operation = Operation::all_reduce;
  int gpus = 0;
  double bytes = 0;
  double us = 0;
  friend bool operator==(const MeasuredRow&, const MeasuredRow&) = default;
};

inline constexpr std::size_t kMostRowBytes = 16'000'000;

/// The rows of a text: CSV whose header names `op`, `gpus`, `bytes` and `us` (or `time_us`) beside
/// other columns, or what nccl-tests printed. `asked` is the op of nccl-tests where its output does
/// not name it. `origin` stands in front of every message. Error: no rows, an op, count or time
/// that cannot be, bytes that do not ascend among the rows of one op and GPU count; names the line.
[[nodiscard]] Expected<std::vector<MeasuredRow>> parse_rows(std::string_view text,
                                                            const std::string& origin,
                                                            Operation asked);

/// Whether a text is what nccl-tests printed.
[[nodiscard]] bool is_nccl_tests(std::string_view text);

/// The out-of-place times of nccl-tests' output. Rows of no bytes, which it prints for buffers that
/// the GPUs cannot share, are left out. Error: as `parse_rows`.
[[nodiscard]] Expected<std::vector<MeasuredRow>> parse_nccl_tests(std::string_view text,
                                                                  const std::string& origin,
                                                                  Operation asked);

/// Error: bytes that do not ascend. `places` has the name of each row for messages.
[[nodiscard]] Expected<void> check_rows(const std::vector<MeasuredRow>& rows,
                                        const std::vector<std::string>& places);

}  // namespace overlaptune::cluster
