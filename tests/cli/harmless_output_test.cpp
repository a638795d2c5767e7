// Text from files of others is shown, and never obeyed by a terminal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// A letter that a terminal obeys: it shows what follows from right to left.
const std::string kReverse = "\u202e";
const std::string kName = "box" + kReverse + "9xob";

/// A database whose platform has a name that somebody chose with care.
class HarmlessOutput : public tool::Tuned {
 protected:
  static void SetUpTestSuite() {
    Tuned::SetUpTestSuite();
    ASSERT_EQ(tool::run(*folder, "db export --db f.db --out f.json").status, 0);
    Platform platform = Store(*folder / "f.db", Access::read).platforms().front().platform;
    std::string text = tool::content(*folder / "f.json");
    const std::string before = fingerprint(platform);
    platform.gpu_model = kName;
    for (std::size_t at = 0; (at = text.find(before, at)) != text.npos;) {
      text.replace(at, before.size(), fingerprint(platform));
    }
    json document = json::parse(text);
    document.at("platforms").at(0).at("gpu_model") = kName;
    folder->write("named.json", document.dump());
    const tool::Outcome imported = tool::run(*folder, "db import --db named.db named.json");
    ASSERT_EQ(imported.status, 0) << imported.err;
  }

  static void expect_harmless(const std::string& shown) {
    EXPECT_THAT(shown, Not(HasSubstr(kReverse)));
    EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  }
};

TEST_F(HarmlessOutput, every_form_of_a_report) {
  for (const char* form : {"md", "csv", "json"}) {
    const std::string report = std::string("report --db named.db --format ") + form;
    const tool::Outcome outcome = tool::run(*folder, report);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out,
                testing::AnyOf(HasSubstr("box\\x202e9xob"), HasSubstr("box\\u202e9xob")))
        << form;
    expect_harmless(outcome.out);
    ASSERT_EQ(tool::run(*folder, report + " --out file").status, 0);
    expect_harmless(tool::content(*folder / "file"));
  }
}

/// JSON says the same with and without the escape.
TEST_F(HarmlessOutput, json_keeps_its_meaning) {
  for (const char* command : {"db export --db named.db", "db info --db named.db --json"}) {
    const tool::Outcome outcome = tool::run(*folder, command);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    expect_harmless(outcome.out);
    EXPECT_TRUE(json::accept(outcome.out)) << command;
  }
  const json document = json::parse(tool::run(*folder, "db export --db named.db").out);
  EXPECT_EQ(document.at("platforms").at(0).at("gpu_model"), kName);
}

TEST_F(HarmlessOutput, messages_about_files) {
  folder->write("problems.csv", "op,m,n,k,dtype,ranks\n\x1b[2J" + kReverse + ",1,1,1,bf16,4\n");
  const tool::Outcome outcome =
      tool::run(*folder, "tune --machine sim:rtx4090-pcie-x4 --db t.db --problems problems.csv");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("\\x1b[2J\\x202e"));
  expect_harmless(outcome.err);
}

}  // namespace
}  // namespace overlaptune
