#pragma once
// Small hashes that are the same on every machine and in every version, so that they can be stored.

#include <cstdint>
#include <string_view>

namespace overlaptune {

/// FNV-1a, 64 bits (draft-eastlake-fnv).
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): turns related integers
/// into unrelated ones.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace overlaptune
