#include "planning/sequences/lengths.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLongestShown = 40;

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

Expected<std::vector<std::int64_t>> parse_lengths(std::string_view text, std::string_view name) {
  std::vector<std::int64_t> lengths;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty()) continue;
    const auto length = parsed<std::int64_t>(line);
    if (!length || *length < 1 || *length > kLongestSequence) {
      return bad_input(
          fmt::format("{}: line {}: length '{}': expected a whole number from 1 to 2^40 - 1", name,
                      number, line.substr(0, kLongestShown)));
    }
    lengths.push_back(*length);
  }
  if (lengths.empty()) {
    return bad_input(fmt::format("{}: no length in it: expected one a line", name));
  }
  return lengths;
}

PreparedLengths prepare_lengths(std::vector<std::int64_t> lengths, std::int64_t most,
                                TooLong too_long, std::int64_t multiple) {
  PreparedLengths prepared;
  prepared.lengths.reserve(lengths.size());
  prepared.places.reserve(lengths.size());
  for (std::size_t place = 0; place < lengths.size(); ++place) {
    std::int64_t length = lengths[place];
    if (length > most) {
      ++prepared.too_long;
      if (too_long == TooLong::drop) continue;
      length = most;
    }
    prepared.places.push_back(place);
    prepared.lengths.push_back((length + multiple - 1) / multiple * multiple);
  }
  return prepared;
}

}  // namespace overlaptune
