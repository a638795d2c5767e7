#include "reports/conditions.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

std::map<std::string, Cell> by_name(const Table& table) {
  std::map<std::string, Cell> values;
  for (const auto& row : table.rows) {
    EXPECT_EQ(row.at(0), Cell(std::string("sim:eight")));
    const bool is_new = values.emplace(std::get<std::string>(row.at(1)), row.at(2)).second;
    EXPECT_TRUE(is_new) << std::get<std::string>(row.at(1));
  }
  return values;
}

Cell text(const char* words) {
  return Cell(std::string(words));
}

StoredCandidate at(std::optional<double> mhz, std::optional<double> watts, PlatformId platform) {
  StoredCandidate row = rows::candidate({.measured = 100});
  row.platform = platform;
  row.candidate.conditions = {.sm_clock_mhz = mhz, .power_w = watts};
  return row;
}

TEST(Conditions, say_which_platform_it_was_and_who_ran_last) {
  Snapshot snapshot = rows::snapshot({});
  snapshot.platforms.front().last_run =
      TuningRun{.finished = true,
                .provenance = {.program_version = "1.2",
                               .host = "rack7",
                               .command_line = "overlaptune tune",
                               .seed = 42,
                               .started_at = "2026-01-31T12:00:00.000Z"}};
  auto values = by_name(conditions(snapshot));
  EXPECT_EQ(values.at("fingerprint"), Cell(fingerprint(rows::platform())));
  for (const PlatformField& field : fields(rows::platform())) {
    EXPECT_EQ(values.at(std::string(field.name)), Cell(field.value));
  }
  EXPECT_EQ(values.at("sms"), text("132"));
  EXPECT_EQ(values.at("program_version"), text("1.2"));
  EXPECT_EQ(values.at("host"), text("rack7"));
  EXPECT_EQ(values.at("command_line"), text("overlaptune tune"));
  EXPECT_EQ(values.at("seed"), text("42"));
  EXPECT_EQ(values.at("started_at"), text("2026-01-31T12:00:00.000Z"));
  EXPECT_EQ(values.at("last run"), text("finished"));
  snapshot.platforms.front().last_run->finished = false;
  EXPECT_EQ(by_name(conditions(snapshot)).at("last run"), text("not finished"));
}

TEST(Conditions, of_clocks_and_power_are_the_ends_and_the_middle_on_that_platform) {
  const Snapshot snapshot = rows::snapshot(
      {}, {at(1980, 700, 1), at(1590, std::nullopt, 1), at(1755, 300, 1), at(5, 5, 2)});
  const auto values = by_name(conditions(snapshot));
  EXPECT_EQ(values.at("sm_clock"), text("1590 to 1980 MHz, median 1755 MHz"));
  EXPECT_EQ(values.at("power"), text("300 to 700 W, median 500 W"));
}

TEST(Conditions, without_runs_are_those_of_the_platform) {
  const auto values = by_name(conditions(rows::snapshot({})));
  EXPECT_EQ(values.count("host"), 0U);
  EXPECT_EQ(values.at("sm_clock"), Cell());
  EXPECT_EQ(values.at("power"), Cell());
}

}  // namespace
}  // namespace overlaptune
