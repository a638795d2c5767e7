// libFuzzer: `db import` of any bytes. Either the document is refused in one line and nothing is
// written, or the imported database is sound and exports to a document that imports to the same.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "db/impl.hpp"
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

void import_any(const std::string& document) {
  Store store = empty();
  const std::string before = exported(store);
  std::istringstream in(document);
  const auto outcome = import_json(store, in);
  if (!outcome) {
    const auto& error = outcome.error();
    require(error.kind == ErrorKind::bad_input, "bad input: " + error.message);
    require(!error.message.empty() && error.message.size() < 600, "a text of some length");
    require(std::none_of(error.message.begin(), error.message.end(),
                         [](char c) { return static_cast<unsigned char>(c) < ' '; }),
            "one line");
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
  overlaptune::fuzz::import_any({data, data + size});
  return 0;
}
