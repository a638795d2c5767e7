#include "reports/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlReport, is_one_page_with_the_data_inside) {
  if (embedded_pages().empty()) GTEST_SKIP() << "this build has no page (OVERLAPTUNE_HTML)";
  const Snapshot snapshot = rows::snapshot({rows::winner(125)});
  const std::string page =
      html_report({.snapshot = snapshot, .other = {}, .database = "</script><!--<script>.db"});
  EXPECT_THAT(page, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr(R"("\u003c/script>\u003c!--\u003cscript>.db")"));
  EXPECT_THAT(page, Not(HasSubstr("</script><!--<script>.db")));
  EXPECT_THAT(page, Not(HasSubstr("@OVERLAPTUNE_DATA@")));
}

TEST(HtmlReport, a_build_without_the_page_says_what_to_install) {
  if (!embedded_pages().empty()) GTEST_SKIP() << "this build has the page";
  const Snapshot snapshot = rows::snapshot({rows::winner(125)});
  try {
    static_cast<void>(html_report({.snapshot = snapshot, .other = {}}));
    FAIL() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("install nodejs"));
  }
}

}  // namespace
}  // namespace overlaptune
