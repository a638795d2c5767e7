// libFuzzer: `db import` of any bytes. Either the document is refused in one line and nothing is
// written, or the imported database is sound and exports to a document that imports to the same.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "db/impl.hpp"
#include "json/parse.hpp"
#include "require.hpp"

namespace overlaptune::fuzz {
namespace {

Store empty() {
  return Store(std::make_unique<Store::Impl>(db::open_memory()));
}

std::string exported(const Store& store) {
  std::ostringstream out;
  export_json(store, out);
  return out.str();
}

void require_sound(const Store& store) {
  const auto findings = store.check();
  require(findings.empty(), findings.empty() ? "" : findings.front());
}

void require_one_line(const std::string& message) {
  require(!message.empty() && message.size() < 600, "a text of some length");
  require(std::none_of(message.begin(), message.end(),
                       [](char c) { return static_cast<unsigned char>(c) < ' '; }),
          "one line");
}

/// Documents that are not exports are read by these.
void read_otherwise(const std::string& document) {
  for (const auto read : {parse_python_json, parse_unique_json}) {
    try {
      static_cast<void>(read(document, "document"));
    } catch (const Failure& failure) {
      require_one_line(failure.what());
    }
  }
}

void import_any(const std::string& document) {
  Store store = empty();
  const std::string before = exported(store);
  std::istringstream in(document);
  const auto outcome = import_json(store, in);
  if (!outcome) {
    const auto& error = outcome.error();
    require(error.kind == ErrorKind::bad_input, "bad input: " + error.message);
    require_one_line(error.message);
    require(exported(store) == before, "nothing written");
    return;
  }
  require_sound(store);
  const std::string first = exported(store);
  Store copy = empty();
  std::istringstream again(first);
  const auto second = import_json(copy, again);
  require(second.has_value(), second ? "" : second.error().message);
  require(exported(copy) == first, "an export that imports to the same");
}

}  // namespace
}  // namespace overlaptune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string document(data, data + size);
  overlaptune::fuzz::import_any(document);
  overlaptune::fuzz::read_otherwise(document);
  return 0;
}
