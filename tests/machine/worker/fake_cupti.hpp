#pragma once
// The interface between a test and tests/machine/fake_cupti.cpp, a libcupti that reports what the
// test makes up.

#include <cstddef>
#include <cstdint>

namespace overlaptune::fake_cupti {

/// The symbol `fake_cupti_control` of the library.
struct Control {
  std::uint32_t version = 0;
  /// The call of this name returns `status` instead of doing anything.
  const char* failing_call = nullptr;
  int status = 0;
  /// Number of good calls before `failing_call` fails.
  int good_calls = 0;
  std::size_t dropped = 0;     ///< records without room, until asked for
  bool damage = false;         ///< buffers cannot be read beyond their first record
  std::size_t buffers = 0;     ///< handed out so far
  std::size_t misaligned = 0;  ///< buffers that are not aligned to 8 bytes
  /// Reports something that happened on the GPU; it is recorded if its kind is enabled.
  void (*kernel)(const char* name, std::uint32_t stream, std::uint64_t start,
                 std::uint64_t end) = nullptr;
  void (*copy)(std::uint32_t stream, std::uint64_t start, std::uint64_t end) = nullptr;
  void (*peer_copy)(std::uint32_t stream, std::uint64_t start, std::uint64_t end) = nullptr;
  void (*set)(std::uint32_t stream, std::uint64_t start, std::uint64_t end) = nullptr;
};

}  // namespace overlaptune::fake_cupti
