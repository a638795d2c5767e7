#pragma once
// Numbers of things are ints, because they are counted, added and taken off; containers want
// std::size_t.

#include <cstddef>

namespace overlaptune {

/// `number` as an index of a container; it is not negative.
constexpr std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

}  // namespace overlaptune
