#pragma once
// The fields that files of costs share.

#include <vector>

#include "json/asked_fields.hpp"
#include "json/reader.hpp"

namespace overlaptune {

/// A number above 0. Throws: there is something else.
[[nodiscard]] double positive(const JsonReader& at);

/// The degrees that a table of bandwidths names. Throws: a name that is no power of two from 2 on.
[[nodiscard]] std::vector<int> degrees_of(const JsonReader& bandwidth);

/// Throws: a field of the document was never asked for. `source` is read by people alone.
void refuse_unasked(const JsonReader& root, const AskedFields& asked,
                    const nlohmann::json& document);

}  // namespace overlaptune
