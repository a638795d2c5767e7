#pragma once
// Measured times of collectives, from a CSV file or from nccl-tests and rccl-tests.

#include <string>
#include <string_view>
#include <vector>

#include "planning/whatif/algorithms.hpp"

namespace overlaptune::cluster {

/// The time of an operation whose whole buffer has `bytes` (`Question`).
struct MeasuredRow {
  Operation operation = Operation::all_reduce;
  int gpus = 0;
  double bytes = 0;
  double us = 0;
  std::string place{};   ///< file and line, for messages
  double bus_share = 0;  ///< bus bandwidth over algorithm bandwidth, as printed; 0: neither is
  std::string gpu{};     ///< name of the GPUs, as printed; empty: none is
  double gb_per_s = 0;   ///< algorithm bandwidth (bytes over time), as printed; 0: none is
  double run_to = 0;     ///< bytes up to which its run should have rows, but ends here; 0: it has
};

/// The rows of a text in one of these forms:
/// - CSV whose header names `op`, `gpus`, `bytes` and `us` (or `time_us`) beside other columns;
/// - what nccl-tests or rccl-tests printed, also with the prefixes that launchers put before lines;
/// - the JSON of nccl-tests (`-J`), the CSV and JSON of rccl-tests (`-Z`).
/// Out-of-place times count. Rows of no bytes, which the tests print for buffers that the GPUs
/// cannot share, are left out. `asked` is the op where nothing names it. `origin` stands in front
/// of every message. Error, which names the line: no rows; an op, count or time that cannot be;
/// bytes that do not ascend among the rows of one op and GPU count; results that the tests found
/// wrong, in place or not, or whose count of wrong results is no number; a call of them that
/// failed; a list of ranks with a rank twice or with some left out; a column or field that is there
/// twice; a word of the in-place column that is neither 0 or 1 nor false or true.
[[nodiscard]] Expected<std::vector<MeasuredRow>> parse_rows(std::string_view text,
                                                            const std::string& origin,
                                                            Operation asked);

/// The doubts that rows are what they are taken for, a line each: runs whose last rows are
/// missing, bandwidths of another op or GPU count, or of another time than the row's, GPUs of
/// another model, times shorter than the links of the cluster allow.
[[nodiscard]] std::vector<std::string> doubts(const Cluster& cluster,
                                              const std::vector<MeasuredRow>& rows);

}  // namespace overlaptune::cluster
