#pragma once
// Documents of others, made safe to show.

#include <string>
#include <vector>

#include "core/base/printable.hpp"

namespace overlaptune {

/// Escapes what is unsafe in all texts. It does not recurse, because a document may be nested
/// deeper than the stack allows.
template <class Json>
void make_printable(Json& json) {
  std::vector<Json*> rest{&json};
  while (!rest.empty()) {
    Json& value = *rest.back();
    rest.pop_back();
    if (auto* text = value.template get_ptr<std::string*>()) *text = printable(*text);
    if (!value.is_structured()) continue;
    for (Json& inner : value) rest.push_back(&inner);
  }
}

}  // namespace overlaptune
