#pragma once
// Values as JSON, both ways, from one description. A *form* says how one value is JSON:
//
//     form.write<Json>(value)    what stands in the document
//     form.read(place, value)    sets the value; throws as a `JsonReader` does
//
// `Plain` is the form of numbers, texts and names, `Object` that of a struct: a list of `Field`s,
// which are plain, and of what `field`, `spliced` and `left_out` make.

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/base/units.hpp"
#include "core/config/fields.hpp"
#include "json/reader.hpp"

namespace overlaptune {

/// `Bytes` and `Microseconds` are their counts, an enumerator is its name.
struct Plain {
  template <class Json, class T>
  [[nodiscard]] static Json write(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return to_string(value);
    } else if constexpr (std::is_same_v<T, Bytes>) {
      return value.count;
    } else if constexpr (std::is_same_v<T, Microseconds>) {
      return value.count();
    } else {
      return value;
    }
  }

  static void read(const JsonReader& at, int& value) { value = at.small(); }
  static void read(const JsonReader& at, std::int64_t& value) { value = at.integer(); }
  static void read(const JsonReader& at, std::uint64_t& value) { value = at.seed(); }
  static void read(const JsonReader& at, double& value) { value = at.number(); }
  static void read(const JsonReader& at, bool& value) { value = at.boolean(); }
  static void read(const JsonReader& at, std::string& value) { value = at.text(); }
  static void read(const JsonReader& at, Bytes& value) { value.count = at.integer(); }
  static void read(const JsonReader& at, Microseconds& value) { value = us(at.number()); }
  template <class E>
  static void read(const JsonReader& at, E& value) requires std::is_enum_v<E> {
    value = at.name<E>();
  }
};

// A form is also that of an optional, which is null where it is absent, and of the elements of an
// array.

template <class Json, class Form, class T>
[[nodiscard]] Json written(const Form& form, const T& value) {
  return form.template write<Json>(value);
}
template <class Json, class Form, class T>
[[nodiscard]] Json written(const Form& form, const std::optional<T>& value) {
  return value ? form.template write<Json>(*value) : Json();
}
template <class Json, class Form, class T>
[[nodiscard]] Json written(const Form& form, const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(form.template write<Json>(value));
  return array;
}

template <class Form, class T>
void read_into(const Form& form, const JsonReader& at, T& value) {
  form.read(at, value);
}
template <class Form, class T>
void read_into(const Form& form, const JsonReader& at, std::optional<T>& value) {
  value.reset();
  if (!at.is_null()) form.read(at, value.emplace(T{}));
}
template <class Form, class T>
void read_into(const Form& form, const JsonReader& at, std::vector<T>& values) {
  values.clear();
  at.each([&](const JsonReader& element) { form.read(element, values.emplace_back()); });
}

template <class Owner, class Member, class Form>
struct FormedField {
  std::string_view name;
  Member Owner::*member;
  Form form;
};
/// A field of a form of its own.
template <class Owner, class Member, class Form>
[[nodiscard]] constexpr auto field(std::string_view name, Member Owner::*member, Form form) {
  return FormedField<Owner, Member, Form>{name, member, form};
}

template <class Owner, class Member, class Form>
struct SplicedField {
  Member Owner::*member;
  Form form;
};
/// The fields of a member that is an object, among the fields of its owner.
template <class Owner, class Member, class Form>
[[nodiscard]] constexpr auto spliced(Member Owner::*member, Form form) {
  return SplicedField<Owner, Member, Form>{member, form};
}

template <class Owner, class Member, class Form>
struct LeftOutField {
  std::string_view name;
  std::optional<Member> Owner::*member;
  Form form;
};
/// An optional that is left out, not null, where it is absent.
template <class Owner, class Member, class Form = Plain>
[[nodiscard]] constexpr auto left_out(std::string_view name, std::optional<Member> Owner::*member,
                                      Form form = {}) {
  return LeftOutField<Owner, Member, Form>{name, member, form};
}

template <class... Fields>
class Object {
 public:
  constexpr explicit Object(Fields... fields) : fields_(fields...) {}
  constexpr explicit Object(const std::tuple<Fields...>& fields) : fields_(fields) {}

  template <class Json, class T>
  [[nodiscard]] Json write(const T& value) const {
    Json object = Json::object();
    put(object, value);
    return object;
  }
  /// Adds the fields to an object.
  template <class Json, class T>
  void put(Json& object, const T& value) const {
    std::apply([&](const auto&... field) { (put_field(object, field, value), ...); }, fields_);
  }
  template <class T>
  void read(const JsonReader& at, T& value) const {
    std::apply([&](const auto&... field) { (read_field(at, field, value), ...); }, fields_);
  }

 private:
  template <class Json, class O, class M>
  static void put_field(Json& object, const Field<O, M>& field, const O& value) {
    object[std::string(field.name)] = written<Json>(Plain{}, value.*field.member);
  }
  template <class Json, class O, class M, class F>
  static void put_field(Json& object, const FormedField<O, M, F>& field, const O& value) {
    object[std::string(field.name)] = written<Json>(field.form, value.*field.member);
  }
  template <class Json, class O, class M, class F>
  static void put_field(Json& object, const SplicedField<O, M, F>& field, const O& value) {
    field.form.put(object, value.*field.member);
  }
  template <class Json, class O, class M, class F>
  static void put_field(Json& object, const LeftOutField<O, M, F>& field, const O& value) {
    const std::optional<M>& member = value.*field.member;
    if (member) object[std::string(field.name)] = written<Json>(field.form, *member);
  }

  template <class O, class M>
  static void read_field(const JsonReader& at, const Field<O, M>& field, O& value) {
    read_into(Plain{}, at[field.name], value.*field.member);
  }
  template <class O, class M, class F>
  static void read_field(const JsonReader& at, const FormedField<O, M, F>& field, O& value) {
    read_into(field.form, at[field.name], value.*field.member);
  }
  template <class O, class M, class F>
  static void read_field(const JsonReader& at, const SplicedField<O, M, F>& field, O& value) {
    field.form.read(at, value.*field.member);
  }
  template <class O, class M, class F>
  static void read_field(const JsonReader& at, const LeftOutField<O, M, F>& field, O& value) {
    std::optional<M>& member = value.*field.member;
    member.reset();
    if (at.has(field.name)) read_into(field.form, at[field.name], member.emplace(M{}));
  }

  std::tuple<Fields...> fields_;
};

/// One alternative of a variant: its name, and its form.
template <class T, class Form>
struct Alternative {
  std::string_view name;
  Form form;
};
template <class T, class Form>
[[nodiscard]] constexpr auto alternative(std::string_view name, Form form) {
  return Alternative<T, Form>{name, form};
}

/// Calls `visit(name, form, value)` with the alternative that a variant holds.
template <class... T, class... Form, class Variant, class Visit>
void visit_alternative(const std::tuple<Alternative<T, Form>...>& all, const Variant& variant,
                       Visit&& visit) {
  const auto try_one = [&]<class One, class F>(const Alternative<One, F>& alternative) {
    if (const One* value = std::get_if<One>(&variant)) {
      visit(alternative.name, alternative.form, *value);
    }
  };
  std::apply([&](const auto&... each) { (try_one(each), ...); }, all);
}

/// Reads the first alternative for which `place(name)` has a reader. Returns whether there is one.
template <class... T, class... Form, class Variant, class Place>
[[nodiscard]] bool read_alternative(const std::tuple<Alternative<T, Form>...>& all,
                                    Variant& variant, Place&& place) {
  const auto try_one = [&]<class One, class F>(const Alternative<One, F>& alternative) {
    const std::optional<JsonReader> at = place(alternative.name);
    if (at) alternative.form.read(*at, variant.template emplace<One>());
    return at.has_value();
  };
  return std::apply([&](const auto&... each) { return (try_one(each) || ...); }, all);
}

/// The value of a form at a place.
template <class T, class Form>
[[nodiscard]] T read_as(const Form& form, const JsonReader& at) {
  T value{};
  read_into(form, at, value);
  return value;
}

}  // namespace overlaptune
