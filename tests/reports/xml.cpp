#include "tests/reports/xml.hpp"

#include <cctype>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace overlaptune::xml {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view document) : text_(document) {}

  Element document() {
    (void)nlohmann::json(std::string(text_)).dump();  // throws where it is not UTF-8
    blanks();
    Element root = element();
    blanks();
    if (at_ != text_.size()) fail("the end");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw std::runtime_error("byte " + std::to_string(at_) + ": expected " + expected);
  }
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  void demand(std::string_view expected) {
    if (!take(expected)) fail(std::string(expected));
  }
  bool blanks() {
    const std::size_t before = at_;
    while (std::isspace(static_cast<unsigned char>(next())) != 0) ++at_;
    return at_ != before;
  }

  std::string name() {
    const std::size_t begin = at_;
    const auto allowed = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':';
    };
    while (allowed(next())) ++at_;
    if (at_ == begin || std::isalpha(static_cast<unsigned char>(text_[begin])) == 0) fail("a name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  char reference() {
    if (take("amp;")) return '&';
    if (take("lt;")) return '<';
    if (take("gt;")) return '>';
    if (take("quot;")) return '"';
    if (take("apos;")) return '\'';
    fail("an entity that XML knows");
  }

  /// Reads up to one of `ends`.
  std::string characters(std::string_view ends) {
    std::string result;
    while (at_ < text_.size() && ends.find(next()) == std::string_view::npos) {
      const char c = text_[at_++];
      if (c == '<') fail("no < in a value");
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') {
        fail("no control character");
      }
      result += c == '&' ? reference() : c;
    }
    return result;
  }

  Element element() {
    demand("<");
    Element result{.name = name()};
    for (bool blank = blanks(); next() != '>' && next() != '/'; blank = blanks()) {
      if (!blank) fail("a blank before an attribute");
      const std::string attribute = name();
      demand("=\"");
      if (!result.attributes.emplace(attribute, characters("\"")).second) fail("it once");
      demand("\"");
    }
    if (take("/>")) return result;
    demand(">");
    for (;;) {
      result.text += characters("<");
      if (take("</")) break;
      if (at_ == text_.size()) fail("</" + result.name + ">");
      result.children.push_back(element());
    }
    demand(result.name);
    blanks();
    demand(">");
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void collect(const Element& element, std::string_view name, std::string_view of_class,
             std::vector<Element>& found) {
  for (const Element& child : element.children) {
    const auto its = child.attributes.find("class");
    const bool fits =
        of_class.empty() || (its != child.attributes.end() && its->second == of_class);
    if (child.name == name && fits) found.push_back(child);
    collect(child, name, of_class, found);
  }
}

}  // namespace

Element parse(std::string_view document) {
  return Reader(document).document();
}

std::vector<Element> find(const Element& root, std::string_view name, std::string_view of_class) {
  std::vector<Element> found;
  collect(root, name, of_class, found);
  return found;
}

}  // namespace overlaptune::xml
