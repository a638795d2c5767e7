#include "cli/output/origin.hpp"

#include <utility>

namespace overlaptune::cli {

std::string_view simulated_mark(const Platform& platform) {
  return is_simulated(platform) ? " (simulated)" : "";
}

Table with_machine(Table table, const Platform& platform) {
  return with_column(std::move(table), "machine", full_name(platform));
}

void add_origin(OrderedJson& document, const Platform& platform) {
  document["full_name"] = full_name(platform);
  document["simulated"] = is_simulated(platform);
}

}  // namespace overlaptune::cli
