#include "reports/table/config_columns.hpp"

#include <algorithm>

#include "core/config/config_fields.hpp"

namespace overlaptune {
namespace {

/// The columns of a field, without values. A tile has one column for each side.
std::vector<ConfigColumn> empty_columns_of(config_field::Tile) {
  return {{"block_m"}, {"block_n"}, {"block_k"}};
}
template <class Field>
std::vector<ConfigColumn> empty_columns_of(Field) {
  return {{std::string(Field::info.column)}};
}

/// The number as a value; none for 0, with which the GEMM library or NCCL chooses.
ConfigValue chosen(int value) {
  return value == 0 ? ConfigValue() : ConfigValue(std::int64_t{value});
}

// Each overload of `fill` writes the value of a field into its columns.

void fill(std::vector<ConfigColumn>& columns, int value) {
  columns[0].value = chosen(value);
}
void fill(std::vector<ConfigColumn>& columns, const Tile& tile) {
  columns[0].value = chosen(tile.block_m);
  columns[1].value = chosen(tile.block_n);
  columns[2].value = chosen(tile.block_k);
}
void fill(std::vector<ConfigColumn>& columns, const std::vector<std::int64_t>& counts) {
  columns[0].value = counts;
}
template <class Value>
requires requires {
  NamesOf<Value>::all;
}
void fill(std::vector<ConfigColumn>& columns, const Value& value) {
  columns[0].value = std::string(to_string(value));
}

}  // namespace

std::vector<ConfigColumn> config_columns(const Config& config) {
  std::vector<ConfigColumn> all{{"strategy", std::string(to_string(strategy_of(config)))}};
  each_field_type([&](auto field) {
    std::vector<ConfigColumn> columns = empty_columns_of(field);
    with_field<decltype(field)>(config, [&](const auto& value) { fill(columns, value); });
    std::move(columns.begin(), columns.end(), std::back_inserter(all));
  });
  return all;
}

}  // namespace overlaptune
