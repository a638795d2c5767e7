#pragma once
// A set of enumerators, small enough to be a constant in a table.

#include <cstdint>
#include <initializer_list>

namespace overlaptune {

/// A set of enumerators whose values are 0 to 31.
template <class E>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<E> members) {
    for (const E member : members) insert(member);
  }

  constexpr void insert(E member) { bits_ |= bit(member); }
  constexpr void erase(E member) { bits_ &= ~bit(member); }

  [[nodiscard]] constexpr bool contains(E member) const { return (bits_ & bit(member)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  /// Bit N is set where the enumerator with value N is a member.
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(EnumSet, EnumSet) = default;

 private:
  static constexpr std::uint32_t bit(E member) {
    return std::uint32_t{1} << static_cast<unsigned>(member);
  }
  std::uint32_t bits_ = 0;
};

}  // namespace overlaptune
