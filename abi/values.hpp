#pragma once
// Conversions between the values of core and the structs of the C interfaces.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "abi/guard.hpp"
#include "core/candidate.hpp"
#include "core/enum_set.hpp"
#include "core/platform.hpp"

namespace overlaptune::c {

/// The size of a struct in the first version, before fields were added at its end. Callers of that
/// version, and of each one since, still work.
template <class T>
inline constexpr std::size_t kFirstSize = sizeof(T);
template <>
inline constexpr std::size_t kFirstSize<ovt_answer> = offsetof(ovt_answer, wait);

/// Whether a struct may have this size. Each version adds whole words of 8 bytes, and a later one
/// than this has a larger struct.
constexpr bool is_size(std::size_t size, std::size_t first, std::size_t known) {
  return size >= known || (size >= first && size % sizeof(std::int64_t) == 0);
}

/// The `size` that the caller set in a struct. Throws `Refusal` where the struct cannot have this
/// size.
template <class T>
std::size_t size_of(const T* value, const char* name) {
  // No later version will have a larger struct: a larger size was never set.
  constexpr std::size_t kLargestStruct = 1 << 16;
  (void)present(value, name);
  if (!is_size(value->size, kFirstSize<T>, sizeof(T)) || value->size > kLargestStruct) {
    throw Refusal{OVT_ERROR_ARGUMENT,
                  fmt::format("{0}.size = {1}: expected {2}; set it to sizeof({0})", name,
                              value->size, sizeof(T))};
  }
  return value->size;
}

/// Checks a struct that the caller filled: bytes beyond the fields that this library knows must be
/// 0. Throws `Refusal`.
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

/// Zeroes the fields of an output that the caller's header has and this library does not know.
template <class T>
void zero_beyond(std::size_t size, T* value) {
  if (size <= sizeof *value) return;
  std::memset(static_cast<char*>(static_cast<void*>(value)) + sizeof *value, 0,
              size - sizeof *value);
}

// These throw `Refusal` for a null or unaligned pointer, an impossible size, an unknown value, a
// text without a NUL, or a problem that breaks a rule. The message names the field.
[[nodiscard]] Problem problem_of(const ovt_problem* problem);
[[nodiscard]] Launch launch_of(ovt_launch launch);
/// The strategies whose bits are set, by their numbers (`1 << OVT_SIGNALED`).
[[nodiscard]] EnumSet<Strategy> strategies_of_mask(std::uint64_t mask, const char* name);
[[nodiscard]] Platform platform_of(const ovt_platform* platform);
/// The names in an answer, which end with a NUL; null for a number that is not known.
[[nodiscard]] const char* strategy_name(ovt_strategy number);
[[nodiscard]] const char* transport_name(ovt_transport number);
/// The config of an answer; the other fields are not read.
[[nodiscard]] Config config_of(const ovt_answer* answer);

/// Writes a config into an answer of `size` bytes, with `wave_groups` in place of the config's own.
void write(const Config& config, std::span<const std::int64_t> wave_groups, std::size_t size,
           ovt_answer* answer);

inline void write(const Config& config, ovt_answer* answer) {
  write(config, wave_groups_of(config), answer->size, answer);
}

/// Writes a platform. Throws `Refusal` for a text that is too long.
void write(const Platform& from, ovt_platform* to);

}  // namespace overlaptune::c
