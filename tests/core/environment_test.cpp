#include "core/base/environment.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "core/base/text_file.hpp"

namespace overlaptune {
namespace {

/// Every field, and the variable that sets it.
const std::map<std::string, std::optional<std::string> Environment::*> kFields{
    {"OVERLAPTUNE_DB", &Environment::database},
    {"OVERLAPTUNE_SYSTEM_DB", &Environment::system_database},
    {"OVERLAPTUNE_LOG", &Environment::log},
    {"NO_COLOR", &Environment::no_color},
    {"OVERLAPTUNE_CACHE", &Environment::cache},
    {"OVERLAPTUNE_CACHE_MB", &Environment::cache_mb},
    {"OVERLAPTUNE_TIME_LIMIT", &Environment::time_limit},
    {"OVERLAPTUNE_WORKER", &Environment::worker},
    {"OVERLAPTUNE_RANKS_PER_GPU", &Environment::ranks_per_gpu},
    {"OVERLAPTUNE_PORT", &Environment::port},
    {"OVERLAPTUNE_SECRET", &Environment::secret},
    {"OVERLAPTUNE_SECRET_FILE", &Environment::secret_file},
    {"OVERLAPTUNE_TOKEN", &Environment::token}};

TEST(Environment, each_variable_sets_its_field_and_no_other) {
  for (const auto& [set, its_field] : kFields) {
    const Environment read = environment([&](const char* name) {
      return name == set ? std::optional<std::string>("text") : std::nullopt;
    });
    for (const auto& [name, field] : kFields) {
      EXPECT_EQ((read.*field).value_or("none"), name == set ? "text" : "none") << set << name;
    }
  }
}

TEST(Environment, an_empty_text_counts_as_not_set_but_where_it_means_something) {
  const std::set<std::string> meaningful{"OVERLAPTUNE_SYSTEM_DB", "OVERLAPTUNE_WORKER",
                                         "OVERLAPTUNE_RANKS_PER_GPU", "OVERLAPTUNE_PORT",
                                         "OVERLAPTUNE_SECRET_FILE"};
  const Environment read = environment([](const char*) { return std::string(); });
  for (const auto& [name, field] : kFields) {
    EXPECT_EQ((read.*field).has_value(), meaningful.count(name) == 1) << name;
  }
}

TEST(Environment, the_manual_has_a_row_for_each_variable) {
  const std::string manual = value_or_throw(read_text_file(OVERLAPTUNE_SOURCE_DIR "/docs/cli.md"));
  for (const auto& [name, field] : kFields) {
    EXPECT_NE(manual.find("\n| `" + name + "` |"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace overlaptune
