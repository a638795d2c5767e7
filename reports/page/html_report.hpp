#pragma once
// The report as one HTML file: the page of reports/html with its data inside.

#include <string>
#include <string_view>
#include <vector>

#include "reports/page/page_data.hpp"

namespace overlaptune {

/// A page that is part of the program: the bundle of reports/html (reports/page/page.cmake).
struct EmbeddedPage {
  std::string_view name;
  std::string_view text;
};

/// One page; none in a build without npm.
[[nodiscard]] const std::vector<EmbeddedPage>& embedded_pages();

/// The page with its data. It opens without a network. Throws `Failure` (`bad_input`) with
/// what to install where this build has no page.
[[nodiscard]] std::string html_report(const PageInput& input);

}  // namespace overlaptune
