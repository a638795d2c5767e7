#pragma once
// Enumerations and their names: one table per enumeration, used for parsing, printing and help.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace overlaptune {

template <class E>
struct Named {
  E value;
  std::string_view name;
};

/// The names of an enumeration. Specialised beside each enumeration with `static constexpr
/// std::string_view what` (for messages) and `static constexpr std::array<Named<E>, N> all`.
template <class E>
struct NamesOf;

template <class E>
concept HasNames = requires {
  NamesOf<E>::all;
};

template <HasNames E>
[[nodiscard]] constexpr std::string_view to_string(E value) {
  for (const auto& entry : NamesOf<E>::all) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

/// The names of the enumerators that `keep` accepts, as "a, b, c".
template <class E, class Keep>
[[nodiscard]] std::string names_of(const Keep& keep) {
  std::string list;
  for (const auto& entry : NamesOf<E>::all) {
    if (keep(entry.value)) list.append(list.empty() ? "" : ", ").append(entry.name);
  }
  return list;
}

template <class E>
[[nodiscard]] std::string names_of() {
  return names_of<E>([](E) { return true; });
}

/// The enumerator of this name; absent for an unknown name.
template <class E>
[[nodiscard]] constexpr std::optional<E> find_name(std::string_view name) {
  for (const auto& entry : NamesOf<E>::all) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

/// The enumerator of this name. Error: the name is unknown; the message lists the known ones.
template <class E>
[[nodiscard]] Expected<E> parse_name(std::string_view name) {
  if (const auto found = find_name<E>(name)) return *found;
  return bad_input(std::string(NamesOf<E>::what) + " '" + std::string(name) +
                   "': expected one of " + names_of<E>());
}

}  // namespace overlaptune
