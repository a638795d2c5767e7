#pragma once
// Our values and those of the C interfaces, one turned into the other.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "abi/guard.hpp"
#include "core/candidate.hpp"
#include "core/platform.hpp"

namespace overlaptune::c {

/// Where a struct ended before its first field was added at the end: callers of then are served.
template <class T>
inline constexpr std::size_t kFirstSize = sizeof(T);
template <>
inline constexpr std::size_t kFirstSize<ovt_answer> = offsetof(ovt_answer, wait);

/// Whether a struct of that size can be: as in the first version, or as we know it, or later.
constexpr bool is_size(std::size_t size, std::size_t first, std::size_t known) {
  return size == first || size >= known;
}

/// The `size` of a struct of which this library knows sizeof(T) bytes, or as many as a caller of
/// the first version has.
template <class T>
std::size_t size_of(const T* value, const char* name) {
  // No struct of a later version will be as large; a larger size is one that nobody set.
  constexpr std::size_t kLargestStruct = 1 << 16;
  (void)present(value, name);
  if (!is_size(value->size, kFirstSize<T>, sizeof(T)) || value->size > kLargestStruct) {
    throw Refusal{OVT_ERROR_ARGUMENT,
                  fmt::format("{0}.size = {1}: expected {2}; set it to sizeof({0})", name,
                              value->size, sizeof(T))};
  }
  return value->size;
}

/// A struct that the caller filled: what it says beyond what we know must be nothing.
template <class T>
void check_input(const T* value, const char* name) {
  const std::size_t size = size_of(value, name);
  const auto* bytes = static_cast<const char*>(static_cast<const void*>(value));
  if (size > sizeof(T) &&
      std::any_of(bytes + sizeof(T), bytes + size, [](char byte) { return byte != 0; })) {
    throw Refusal{
        OVT_ERROR_ARGUMENT,
        fmt::format("{}: has fields that this library ({}) does not know; use a newer one", name,
                    version())};
  }
}

/// A struct that we filled: what the caller's header knows beyond that.
template <class T>
void zero_beyond(std::size_t size, T* value) {
  if (size <= sizeof *value) return;
  std::memset(static_cast<char*>(static_cast<void*>(value)) + sizeof *value, 0,
              size - sizeof *value);
}

// These throw `Refusal`: null or unaligned, a size that cannot be, a value that is not known, a
// text without its end, a rule of the problem that is broken. The message names the field.
[[nodiscard]] Problem problem_of(const ovt_problem* problem);
[[nodiscard]] Launch launch_of(ovt_launch launch);
[[nodiscard]] Platform platform_of(const ovt_platform* platform);
/// Its config alone.
[[nodiscard]] Config config_of(const ovt_answer* answer);

/// Of a `Config`, or what has its fields but for the groups, into the `size` bytes of the caller's.
template <class T>
void write_config(const T& config, std::span<const std::int64_t> wave_groups, std::size_t size,
                  ovt_answer* answer) {
  answer->strategy = static_cast<ovt_strategy>(config.strategy);
  answer->block_m = config.tile.block_m;
  answer->block_n = config.tile.block_n;
  answer->block_k = config.tile.block_k;
  answer->stages = config.tile.stages;
  answer->cluster = config.tile.cluster;
  answer->raster = config.raster;
  answer->comm_ctas = config.comm_ctas;
  answer->chunks = config.chunks;
  answer->transport = static_cast<ovt_transport>(config.transport);
  answer->wave_group_count = static_cast<std::int32_t>(wave_groups.size());
  std::copy(wave_groups.begin(), wave_groups.end(), answer->wave_groups);
  if (size == kFirstSize<ovt_answer>) return;
  answer->wait = static_cast<ovt_wait>(config.wait);
  answer->reserved = 0;
}

inline void write(const Config& config, ovt_answer* answer) {
  write_config(config, config.wave_groups, answer->size, answer);
}

/// Throws `Refusal` for a text that is too long.
void write(const Platform& from, ovt_platform* to);

}  // namespace overlaptune::c
