#pragma once
// Seals. A row holds a hash of its own values. Where the two do not agree, something other than
// this program has changed the row: a failing disk, or an editor. A seal is no signature, because
// whoever knows the program can make one.

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_value;

namespace overlaptune::db {

/// The seal of some values, in this order: XXH3 (64 bits, xxHash 0.8) of their one canonical form.
/// In it a number is a letter for its type and 8 bytes, the lowest first; a text is a letter, its
/// length in bytes as such 8 bytes, and its bytes in UTF-8; NULL is a letter. It runs for each of
/// many thousand winners, so the buffer is kept and written in place.
class Sealer {
 public:
  void add_null() { *room(1) = 'n'; }
  void add(std::int64_t number) { put('i', std::bit_cast<std::uint64_t>(number)); }
  /// SQLite stores a negative zero as 0.
  void add(double number) { put('r', std::bit_cast<std::uint64_t>(number == 0 ? 0.0 : number)); }
  void add(std::string_view text) {
    put('t', text.size());
    if (!text.empty()) std::memcpy(room(text.size()), text.data(), text.size());
  }
  void add(sqlite3_value* value);
  [[nodiscard]] std::int64_t seal() const;

  /// How much has been added, and a way back to there.
  [[nodiscard]] std::size_t size() const { return size_; }
  void go_back_to(std::size_t size) { size_ = size; }

 private:
  /// The place of the next `count` bytes.
  char* room(std::size_t count) {
    if (form_.size() - size_ < count) form_.resize(2 * (size_ + count));
    char* place = form_.data() + size_;
    size_ += count;
    return place;
  }
  void put(char letter, std::uint64_t number) {
    char* place = room(1 + sizeof number);
    *place = letter;
    if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap64(number);
    std::memcpy(place + 1, &number, sizeof number);
  }

  std::string form_ = std::string(512, '\0');
  std::size_t size_ = 0;  ///< bytes of `form_` that are in use
};

/// The text or blob of a value; empty for NULL. It is valid until the value is converted.
[[nodiscard]] std::string_view text_of(sqlite3_value* value);

/// Gives a connection the SQL function `seal_of(value, ...)`.
void add_seal_function(sqlite3* database);

/// `seal_of(a, b, ...)` in SQL.
[[nodiscard]] std::string seal_of(std::initializer_list<std::string_view> lists);

}  // namespace overlaptune::db
