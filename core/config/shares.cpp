#include "core/config/shares.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/text.hpp"

namespace overlaptune {
namespace {

constexpr int kDigits = 4;  // of a share, behind the point

/// The number of the cut that is nearest to this many tiles; of two, the one with fewer tiles.
std::int64_t nearest_cut(const WaveCuts& cuts, double tiles) {
  std::int64_t low = 1;
  std::int64_t high = cuts.count();
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (static_cast<double>(cuts[middle].tiles) < tiles) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 1) return low;
  const double above = static_cast<double>(cuts[low].tiles) - tiles;
  const double below = tiles - static_cast<double>(cuts[low - 1].tiles);
  return below <= above ? low - 1 : low;
}

std::string share_text(Share share) {
  std::string text = fmt::format("{}.{:0{}}", share / kWholeShare, share % kWholeShare, kDigits);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

/// Reads a share up to a comma or the end. It may be written in other ways than it is printed.
bool read_share(std::string_view text, Share& share) {
  const std::string_view whole = text.substr(0, text.find('.'));
  std::string digits(text.substr(std::min(whole.size() + 1, text.size())));
  if (whole.empty() || digits.size() > kDigits) return false;
  digits.resize(kDigits, '0');
  const auto units = parsed<Share>(whole);
  const auto parts = parsed<Share>(digits);
  constexpr Share kMostUnits = 4096;
  if (!units || *units < 0 || *units > kMostUnits || !parts || *parts < 0) return false;
  share = *units * kWholeShare + *parts;
  return share > 0;
}

}  // namespace

std::vector<Share> shares_of(std::span<const std::int64_t> parts) {
  const auto whole =
      static_cast<double>(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}));
  std::vector<Share> shares;
  std::int64_t end = 0;
  Share before = 0;
  for (const std::int64_t part : parts) {
    end += part;
    const auto to = static_cast<Share>(static_cast<double>(end) / whole * kWholeShare + 0.5);
    if (to == before) continue;
    shares.push_back(to - before);
    before = to;
  }
  return shares;
}

std::vector<std::int64_t> nearest_groups(const WaveCuts& cuts, std::int64_t tiles,
                                         std::span<const Share> shares) {
  std::vector<std::int64_t> groups;
  std::int64_t before = 0;
  Share end = 0;
  for (const Share share : shares) {
    end += share;
    const double wanted = static_cast<double>(tiles) * end / kWholeShare;
    const std::int64_t at = end >= kWholeShare ? tiles : cuts[nearest_cut(cuts, wanted)].tiles;
    if (at <= before) continue;
    groups.push_back(at - before);
    before = at;
  }
  return groups;
}

std::string shares_text(std::span<const Share> shares) {
  std::string text;
  for (const Share share : shares) text += (text.empty() ? "" : ",") + share_text(share);
  return text;
}

Expected<std::vector<Share>> parse_shares(std::string_view text) {
  std::vector<Share> shares;
  for (std::string_view rest = text; shares.size() <= kMostShares;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    Share& share = shares.emplace_back();
    if (!read_share(rest.substr(0, comma), share)) break;
    if (comma < rest.size()) {
      rest.remove_prefix(comma + 1);
      continue;
    }
    if (shares_text(shares) != text) break;
    return shares;
  }
  constexpr std::size_t kShown = 80;
  return bad_input(
      fmt::format("shares = '{}': expected at most {} numbers with up to {} digits behind the "
                  "point, as in 0.9,0.1",
                  printable(text.substr(0, kShown)), kMostShares, kDigits));
}

}  // namespace overlaptune
