#include "db/seal.hpp"

#include <bit>
#include <cstdint>
#include <new>

#define XXH_INLINE_ALL  // no function of xxHash becomes part of a library of ours
#include <xxhash.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

namespace overlaptune::db {
namespace {

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 is stable since 0.8.0");

void append(std::string& form, char letter, std::uint64_t number) {
  form += letter;
  for (int byte = 0; byte < 8; ++byte) form += static_cast<char>(number >> 8 * byte);
}

void append(std::string& form, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      form += 'n';
      return;
    case SQLITE_INTEGER:
      return append(form, 'i', std::bit_cast<std::uint64_t>(sqlite3_value_int64(value)));
    case SQLITE_FLOAT: {
      // SQLite stores a negative zero as 0.
      const double number = sqlite3_value_double(value);
      return append(form, 'r', std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number));
    }
    default: {
      // The size is asked for first, because it converts a text of another encoding, which moves
      // it.
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      const void* const bytes = sqlite3_value_blob(value);
      if (bytes == nullptr && size > 0) throw std::bad_alloc();
      append(form, 't', size);
      if (size > 0) form.append(static_cast<const char*>(bytes), size);
    }
  }
}

void seal_of_values(sqlite3_context* context, int count, sqlite3_value** values) {
  try {
    std::string form;
    for (int i = 0; i < count; ++i) append(form, values[i]);
    const std::uint64_t seal = XXH3_64bits(form.data(), form.size());
    sqlite3_result_int64(context, std::bit_cast<std::int64_t>(seal));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

void add_seal_function(sqlite3* database) {
  sqlite3_create_function(database, "seal_of", -1,
                          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                          &seal_of_values, nullptr, nullptr);
}

std::string seal_of(std::initializer_list<std::string_view> lists) {
  return fmt::format("seal_of({})", fmt::join(lists, ", "));
}

}  // namespace overlaptune::db
