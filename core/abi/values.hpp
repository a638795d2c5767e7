#pragma once
// Conversions between the values of core and the structs of the C interfaces.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "core/abi/guard.hpp"
#include "core/config/candidate.hpp"
#include "core/platform.hpp"

namespace overlaptune::c {

/// The `size` that the caller set in a struct. Throws `Refusal` where the struct cannot have this
/// size.
template <class T>
std::size_t size_of(const T* value, const char* name) {
  // No later version will have a larger struct: a larger size was never set.
  constexpr std::size_t kLargestStruct = 1 << 16;
  (void)present(value, name);
  if (value->size < sizeof(T) || value->size > kLargestStruct) {
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
[[nodiscard]] Platform platform_of(const ovt_platform* platform);
/// The config in a line: a canonical one, or one that people write (`parse_config`).
[[nodiscard]] Config config_of(const char* line);

/// Writes a text with its NUL. Throws `Refusal` where it is too long; `name` is that of the field.
template <std::size_t Size>
void put(std::string_view text, char (&field)[Size], const char* name) {
  if (text.size() >= Size) {
    throw Refusal{OVT_ERROR_INTERNAL,
                  fmt::format("{}: '{}' is longer than {} characters", name, text, Size - 1)};
  }
  text.copy(field, text.size());
  std::memset(field + text.size(), 0, Size - text.size());
}

/// Writes a platform. Throws `Refusal` for a text that is too long.
void write(const Platform& from, ovt_platform* to);

}  // namespace overlaptune::c
