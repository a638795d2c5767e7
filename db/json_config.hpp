#pragma once
// A config in a document, of either format.

#include "core/config.hpp"
#include "json/reader.hpp"

namespace overlaptune::db {

/// Written as its canonical line; read also as documents of format 1 have it.
struct ConfigForm {
  template <class Json>
  [[nodiscard]] static Json write(const Config& config) {
    return to_string(config);
  }
  static void read(const JsonReader& at, Config& config);
};

}  // namespace overlaptune::db
