#include "db/seal.hpp"

#include <new>

#define XXH_INLINE_ALL  // no function of xxHash becomes part of a library of ours
#include <xxhash.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

namespace overlaptune::db {
namespace {

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 is stable since 0.8.0");

void seal_of_values(sqlite3_context* context, int count, sqlite3_value** values) {
  try {
    Sealer sealer;
    for (int i = 0; i < count; ++i) sealer.add(values[i]);
    sqlite3_result_int64(context, sealer.seal());
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

void Sealer::add(sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return add_null();
    case SQLITE_INTEGER:
      return add(std::int64_t{sqlite3_value_int64(value)});
    case SQLITE_FLOAT:
      return add(sqlite3_value_double(value));
    default:
      add(text_of(value));
  }
}

std::int64_t Sealer::seal() const {
  return std::bit_cast<std::int64_t>(std::uint64_t{XXH3_64bits(form_.data(), size_)});
}

std::string_view text_of(sqlite3_value* value) {
  // The size is asked for first, because it converts a text of another encoding, which moves it.
  // The data are read as a blob; a read as text would copy them to append a NUL.
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
  const void* data = sqlite3_value_blob(value);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size);
}

void add_seal_function(sqlite3* database) {
  sqlite3_create_function(database, "seal_of", -1,
                          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr,
                          &seal_of_values, nullptr, nullptr);
}

std::string seal_of(std::initializer_list<std::string_view> lists) {
  return fmt::format("seal_of({})", fmt::join(lists, ", "));
}

}  // namespace overlaptune::db
