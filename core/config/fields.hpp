#pragma once
// The fields of a plain value, described once: the names that they have outside the program, and
// the members. Whatever prints, stores or reads the value follows from such a list.

#include <string_view>
#include <tuple>

namespace overlaptune {

template <class Owner, class Member>
struct Field {
  std::string_view name;
  Member Owner::*member;
};
template <class Owner, class Member>
Field(std::string_view, Member Owner::*) -> Field<Owner, Member>;

/// Calls `visit(name, member of value)` for each field of a list, in its order. `Owner` may be
/// const.
template <class... Fields, class Owner, class Visit>
constexpr void each_field(const std::tuple<Fields...>& fields, Owner& value, Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field.name, value.*field.member), ...); }, fields);
}

}  // namespace overlaptune
