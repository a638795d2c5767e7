// OVERLAPTUNE_DB, the default of --db.

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::kKnown;

class DefaultDatabase : public tool::Tuned {};

/// A database that is named for the rest of a test.
class DatabaseVariable {
 public:
  explicit DatabaseVariable(const char* file) { setenv("OVERLAPTUNE_DB", file, 1); }
  ~DatabaseVariable() { unsetenv("OVERLAPTUNE_DB"); }
  DatabaseVariable(const DatabaseVariable&) = delete;
  DatabaseVariable& operator=(const DatabaseVariable&) = delete;
};

TEST_F(DefaultDatabase, the_environment_names_the_database) {
  const std::string problem = kKnown.substr(std::string(" --db f.db").size());
  const json answer = tool::json(*folder, "query" + kKnown);
  const json ran = tool::json(*folder, "run --machine sim:rtx4090-pcie-x4" + kKnown);
  const DatabaseVariable named("f.db");
  EXPECT_EQ(tool::json(*folder, "query" + problem), answer);
  EXPECT_EQ(tool::json(*folder, "db info").at("database"), "f.db");
  EXPECT_EQ(tool::json(*folder, "run --machine sim:rtx4090-pcie-x4" + problem), ran);
  EXPECT_EQ(tool::run(*folder, "db info --db none.db").status, 2);  // the flag comes first
}

TEST_F(DefaultDatabase, a_config_may_be_run_beside_the_database_of_the_environment) {
  const std::string problem = kKnown.substr(std::string(" --db f.db").size());
  const std::string run =
      "run --machine sim:rtx4090-pcie-x4 --repetitions 1 --config sequential" + problem;
  const DatabaseVariable named("none.db");
  EXPECT_EQ(tool::json(*folder, run).at("config").at("strategy"), "sequential");
  EXPECT_EQ(tool::run(*folder, run + " --db f.db").status, 2);
  const DatabaseVariable empty("");
  const tool::Outcome unnamed = tool::run(*folder, "db info");
  EXPECT_EQ(unnamed.status, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("--db is required where OVERLAPTUNE_DB is not set"));
}

}  // namespace
}  // namespace overlaptune
