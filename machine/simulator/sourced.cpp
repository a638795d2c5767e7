#include "machine/simulator/sourced.hpp"

#include <fmt/format.h>

namespace overlaptune::sim {
namespace {

/// The result of `read` for the value of a field, which must name its source.
template <class F>
auto sourced(const JsonReader& at, std::string_view key, F&& read) {
  const JsonReader field = at[key];
  const JsonReader source = field["source"];
  if (source.text().empty()) source.fail("expected where the value comes from");
  const JsonReader value = field["value"];
  return read(value);
}

/// The curve of [bytes, value] pairs.
Curve curve_of(const JsonReader& value, double least, double most) {
  constexpr double kMostBytes = 1e15;
  Curve curve;
  value.each([&](const JsonReader& pair) {
    std::vector<JsonReader> parts;
    pair.each([&](const JsonReader& part) { parts.push_back(part); });
    if (parts.size() != 2) pair.fail("expected [bytes, value], found " + pair.shown());
    const double bytes = parts[0].number(1, kMostBytes);
    if (!curve.bytes.empty() && bytes <= curve.bytes.back()) {
      pair.fail("expected more bytes than in the pair before");
    }
    curve.bytes.push_back(bytes);
    curve.values.push_back(parts[1].number(least, most));
  });
  if (curve.bytes.empty()) value.fail("expected [bytes, value] pairs, found none");
  return curve;
}

}  // namespace

double number(const JsonReader& at, std::string_view key, double least, double most) {
  return sourced(at, key, [&](const JsonReader& value) { return value.number(least, most); });
}

int integer(const JsonReader& at, std::string_view key, int least, int most) {
  return sourced(at, key, [&](const JsonReader& value) { return value.small(least, most); });
}

std::string text(const JsonReader& at, std::string_view key) {
  return sourced(at, key, [](const JsonReader& value) { return value.text(); });
}

Curve curve(const JsonReader& at, std::string_view key, double least, double most) {
  return sourced(at, key, [&](const JsonReader& value) { return curve_of(value, least, most); });
}

std::vector<CtaTimes> curves_by_ctas(const JsonReader& at, std::string_view key, double least,
                                     double most) {
  return sourced(at, key, [&](const JsonReader& value) {
    std::vector<CtaTimes> list;
    value.each([&](const JsonReader& row) {
      std::vector<JsonReader> parts;
      row.each([&](const JsonReader& part) { parts.push_back(part); });
      if (parts.size() != 2) row.fail("expected [CTAs, curve], found " + row.shown());
      const int ctas = parts[0].small(1, 1024);
      if (!list.empty() && ctas <= list.back().ctas) {
        row.fail("expected more CTAs than in the row before");
      }
      list.push_back({.ctas = ctas, .times = curve_of(parts[1], least, most)});
    });
    if (list.empty()) value.fail("expected [CTAs, curve] rows, found none");
    return list;
  });
}

}  // namespace overlaptune::sim
