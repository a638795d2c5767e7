#pragma once
// The fields of a config as columns of tables and members of JSON objects.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/config/config.hpp"

namespace overlaptune {

/// The value of a config's field. `monostate` where its strategy does not have the field, or where
/// the GEMM library or NCCL chooses.
using ConfigValue =
    std::variant<std::monostate, std::int64_t, std::string, std::vector<std::int64_t>>;

struct ConfigColumn {
  std::string name;
  ConfigValue value{};
};

/// `strategy, block_m, block_n, …, wave_groups, chunks, k_chunks, transport, wait`: the columns are
/// the same for every config.
[[nodiscard]] std::vector<ConfigColumn> config_columns(const Config& config);

}  // namespace overlaptune
