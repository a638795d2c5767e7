#pragma once
// A reader of XML that refuses documents that are not well-formed. It knows the part of XML that
// overlaptune writes (no doctype, no comments, no CDATA).

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace overlaptune::xml {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes{};
  std::vector<Element> children{};
  std::string text{};  ///< text of this element, with references resolved
};

/// Reads a document and returns its root. Throws an exception that says what is wrong, and at which
/// byte.
[[nodiscard]] Element parse(std::string_view document);

/// All elements below `root` with this name and, where one is given, this class; in their order.
[[nodiscard]] std::vector<Element> find(const Element& root, std::string_view name,
                                        std::string_view of_class = {});

}  // namespace overlaptune::xml
