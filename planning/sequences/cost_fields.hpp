#pragma once
// The fields that files of costs share.

#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.hpp"
#include "json/asked_fields.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"

namespace overlaptune {

/// A number above 0. Throws: there is something else.
[[nodiscard]] double positive(const JsonReader& at);

/// The degrees that a table of bandwidths names. Throws: a name that is no power of two from 2 on.
[[nodiscard]] std::vector<int> degrees_of(const JsonReader& bandwidth);

/// The result of `read` for a document. Error: what `read` throws, or a field that it never asked
/// for; `source` is read by people alone.
template <class Read>
[[nodiscard]] auto read_costs(std::string_view text, std::string_view origin, Read read)
    -> Expected<std::invoke_result_t<Read, const JsonReader&>> {
  return outcome_of([&] {
    const nlohmann::json document = parse_unique_json(text, origin);
    AskedFields asked;
    const JsonReader root(document, origin, &asked);
    auto costs = read(root);
    static_cast<void>(root.has("source"));
    const auto complaints = asked.complaints(document);
    if (!complaints.empty()) root.fail(complaints.front());
    return costs;
  });
}

}  // namespace overlaptune
