#pragma once
// Seals. A row holds a hash of its own values. Where the two do not agree, something other than
// this program has changed the row: a failing disk, or an editor. A seal is no signature, because
// whoever knows the program can make one.

#include <initializer_list>
#include <string>
#include <string_view>

struct sqlite3;

namespace overlaptune::db {

/// Gives a connection the SQL function `seal_of(value, ...)`: XXH3 (64 bits, xxHash 0.8) of the
/// values in this order, in their one canonical form. In it a number is a letter for its type and 8
/// bytes, the lowest first; a text is a letter, its length in bytes as such 8 bytes, and its bytes
/// in UTF-8; NULL is a letter.
void add_seal_function(sqlite3* database);

/// `seal_of(a, b, ...)` in SQL.
[[nodiscard]] std::string seal_of(std::initializer_list<std::string_view> lists);

}  // namespace overlaptune::db
