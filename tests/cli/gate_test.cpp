// `report --compare --fail-if-slower`, the gate of a CI.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Gate : public tool::Tuned {
 protected:
  /// The database f.db, changed by `change` in the form of a document, as NAME.db.
  template <class ChangeDocument>
  void make(const std::string& name, ChangeDocument change) const {
    ASSERT_EQ(tool::run(*folder, "db export --db f.db --out " + name + ".json").status, 0);
    json document = json::parse(tool::content(*folder / (name + ".json")));
    change(document);
    folder->write(name + ".json", document.dump());
    const std::string import = "db import --db " + name + ".db " + name + ".json";
    ASSERT_EQ(tool::run(*folder, import).status, 0);
  }
};

const std::string kCompare = "report --only comparison --compare ";

TEST_F(Gate, fails_where_something_is_slower) {
  make("fast", [](json& document) {  // winners that took two thirds of their time
    for (json& winner : document.at("winners")) {
      for (const char* field : {"median_us", "p10_us", "p90_us"}) {
        json& time = winner.at("candidate").at("measured").at(field);
        time = time.get<double>() / 1.5;
      }
    }
  });
  const std::string compare = kCompare + "fast.db --db f.db ";
  EXPECT_EQ(tool::run(*folder, compare).status, 0);
  const tool::Outcome slower = tool::run(*folder, compare + "--fail-if-slower 3%");
  EXPECT_EQ(slower.status, 5);
  EXPECT_THAT(slower.out, HasSubstr("| slower"));  // the report comes first
  EXPECT_THAT(slower.err, HasSubstr("2 of 2 operations are slower than in fast.db"));
  EXPECT_THAT(slower.err, HasSubstr(" on sim:rtx4090-pcie-x4: +50.0 %"));
  EXPECT_EQ(tool::run(*folder, compare + "--fail-if-slower 60").status, 0);
}

TEST_F(Gate, fails_where_operations_are_missing_unless_they_may_be) {
  make("fewer", [](json& document) { document.at("winners").erase(1); });
  const std::string compare = kCompare + "f.db --db fewer.db --fail-if-slower 3%";
  const tool::Outcome missing = tool::run(*folder, compare);
  EXPECT_EQ(missing.status, 5);
  EXPECT_THAT(missing.out, HasSubstr("| only_there"));
  EXPECT_THAT(missing.err, HasSubstr("1 of 2 operations of f.db could not be compared"));
  EXPECT_THAT(missing.err, HasSubstr("--allow-missing"));
  const tool::Outcome allowed = tool::run(*folder, compare + " --allow-missing");
  EXPECT_EQ(allowed.status, 0);
  EXPECT_THAT(allowed.err, HasSubstr("1 of 2 operations of f.db could not be compared"));
  // The other way round nothing is missing: an operation is new.
  const tool::Outcome more = tool::run(*folder, kCompare + "fewer.db --db f.db --fail-if-slower 3");
  EXPECT_EQ(more.status, 0);
  EXPECT_THAT(more.err, Not(HasSubstr("could not be compared")));
}

TEST_F(Gate, needs_something_to_compare_with) {
  const std::string itself = kCompare + "f.db --db f.db ";
  EXPECT_EQ(tool::run(*folder, itself + "--fail-if-slower much").status, 2);
  EXPECT_EQ(tool::run(*folder, itself + "--allow-missing").status, 2);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --fail-if-slower 3%").status, 2);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --only comparison").status, 2);
}

}  // namespace
}  // namespace overlaptune
