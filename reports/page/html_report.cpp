#include "reports/page/html_report.hpp"

#include "core/base/error.hpp"
#include "json/printable.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kPlace = "@OVERLAPTUNE_DATA@";

/// The document as the text of a <script>, which "</script>" and "<!--" within it would end or
/// change.
std::string script_text(OrderedJson document) {
  make_printable(document);
  const std::string json = document.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string html_report(const PageInput& input) {
  if (embedded_pages().empty()) {
    throw Failure(ErrorKind::bad_input,
                  "--format html: this overlaptune was built without the page: install nodejs 18 "
                  "or newer and npm, then configure with -DOVERLAPTUNE_HTML=ON and build again");
  }
  std::string page(embedded_pages().front().text);
  page.replace(page.find(kPlace), kPlace.size(), script_text(page_data(input)));
  return page;
}

}  // namespace overlaptune
