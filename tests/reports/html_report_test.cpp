#include "reports/page/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlReport, is_one_page_with_the_data_inside) {
  const Snapshot snapshot = rows::snapshot({rows::winner(125)});
  const PageInput input{.snapshot = snapshot, .other = {}, .database = "</script><!--<script>.db"};
  if (embedded_pages().empty()) {
    EXPECT_THAT([&] { static_cast<void>(html_report(input)); },
                testing::ThrowsMessage<Failure>(HasSubstr("install nodejs")));
    GTEST_SKIP() << "this build is without npm";
  }
  const std::string page = html_report(input);
  EXPECT_THAT(page, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr(R"("\u003c/script>\u003c!--\u003cscript>.db")"));
  EXPECT_THAT(page, Not(HasSubstr("</script><!--<script>.db")));
  EXPECT_THAT(page, Not(HasSubstr("@OVERLAPTUNE_DATA@")));
}

}  // namespace
}  // namespace overlaptune
