#pragma once
// Configs rebuilt from published ones, with the products that follow from the architecture by hand,
// under sequence parallelism (tests/data/models/right.json). Rows with a config of their own name
// its source; "checked" is false where the config was not compared with it.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune::published {

inline const std::filesystem::path kModels =
    std::filesystem::path(OVERLAPTUNE_SOURCE_DIR) / "tests/data/models";

struct Published {
  std::string name{};
  nlohmann::json config{};
  nlohmann::json right{};  ///< `tp`, `dtype`, `products`, and what notes say (`says`)
};

inline std::vector<Published> all() {
  std::vector<Published> list;
  for (const auto& row : nlohmann::json::parse(std::ifstream(kModels / "right.json"))) {
    if (row.contains("config")) {
      list.push_back({row.at("name"), row.at("config"), row});
    } else {
      const std::string file = row.at("file");
      list.push_back({file, nlohmann::json::parse(std::ifstream(kModels / file)), row});
    }
  }
  return list;
}

}  // namespace overlaptune::published
