#pragma once
// The fields of a JSON text, followed without a document.

#include <string>
#include <string_view>

namespace overlaptune {

struct FollowedFields {
  /// The path of the first field that stands twice in an object, "tasks[2].after"; empty: none
  /// does.
  std::string repeated{};
  std::string place{};  ///< "gpu.sms.value": where the text ends to be JSON; empty: it is, or the
                        ///< place has no name
};

/// Takes time linear in the text, which nlohmann's parser with a callback does not.
[[nodiscard]] FollowedFields follow_fields(std::string_view text);

}  // namespace overlaptune
