#pragma once
// Choices for a world, the same on all its ranks.

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace overlaptune::run {

struct WorldOptions {
  bool allow_multicast = false;  ///< NCCL may use NVLink multicast (NVLS)
  /// Nothing else on these GPUs waits for ranks, so plans may begin without making sure that all
  /// ranks have reached them.
  bool exclusive = false;
  int free_sms = 0;  ///< SMs that plans leave alone
  /// The limit of every wait for other ranks, on the host and on the GPU.
  std::chrono::milliseconds time_limit{300'000};
  /// Memory that the caller gives: the address on this GPU of each rank's part, and the bytes of a
  /// part. None: the world allocates.
  std::vector<void*> peers{};
  std::size_t peer_bytes = 0;
  /// Bytes for results (`World::results`), at most, where the world allocates.
  std::size_t result_bytes = 0;
  friend bool operator==(const WorldOptions&, const WorldOptions&) = default;
};

/// A limit that is written in seconds ("300", "0.5"). Error (`bad_input`): no number, or not from
/// 0.001 to 2,000,000.
[[nodiscard]] Expected<std::chrono::milliseconds> parsed_time_limit(std::string_view text);

/// The limit where the options give none: `Environment::time_limit`, which is read once, or
/// 300 s where it is not set or empty. Error (`bad_input`): its text is no limit.
[[nodiscard]] const Expected<std::chrono::milliseconds>& usual_time_limit();

}  // namespace overlaptune::run
