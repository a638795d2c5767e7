#pragma once
// The peer matrix: what each GPU reaches in copies to each other one, while the others are idle.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// The copies of a pair that were probed.
struct PeerLink {
  std::optional<double> gb_per_s{};       ///< of the largest copy
  std::optional<Microseconds> latency{};  ///< time of the smallest copy, launch included
  friend bool operator==(const PeerLink&, const PeerLink&) = default;
};

struct PeerMatrix {
  int gpus = 0;
  std::vector<PeerLink> links{};  ///< row after row, a row for each GPU that copies

  [[nodiscard]] const PeerLink& at(int from, int to) const;
};

/// The matrix of a platform's measurements; absent if no pair was probed. A copy gives a latency if
/// it has at most 64 KiB, and a bandwidth otherwise.
[[nodiscard]] std::optional<PeerMatrix> peer_matrix(std::span<const Measurement> measurements);

/// One row for each pair that was probed: `from, to, bandwidth_gb_per_s, latency_us`.
[[nodiscard]] Table peer_table(const PeerMatrix& matrix);

/// One row for each pair that was probed on any platform, after the name of its platform.
[[nodiscard]] Table peer_tables(const Snapshot& snapshot);

/// The matrix as Markdown: a table of bandwidths, and one of latencies if there are some. Rows are
/// the GPUs that copy, columns those that are copied to.
[[nodiscard]] std::string to_markdown(const PeerMatrix& matrix);

}  // namespace overlaptune
