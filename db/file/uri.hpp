#pragma once
// The name of a file as SQLite takes it.

#include <filesystem>
#include <string>
#include <string_view>

namespace overlaptune::db {

/// The URI of a file with parameters such as "mode=ro".
[[nodiscard]] std::string uri(const std::filesystem::path& file, std::string_view parameters);

}  // namespace overlaptune::db
