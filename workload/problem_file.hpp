#pragma once
// Problems from a CSV file with the header `op,m,n,k,dtype,ranks`.

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace overlaptune {

/// Parses such a file. Sizes take k/M/G; blank lines and lines that start with # are skipped.
/// `name` stands in front of every message. Error: a wrong header, a wrong number of fields, a
/// field that does not parse, a problem that is not valid, one given twice (both lines are named),
/// none at all.
[[nodiscard]] Expected<std::vector<Problem>> parse_problems(std::string_view csv,
                                                            std::string_view name);

/// Reads the same from a file.
[[nodiscard]] Expected<std::vector<Problem>> read_problems(const std::filesystem::path& file);

}  // namespace overlaptune
