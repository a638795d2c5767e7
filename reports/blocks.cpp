#include "reports/blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace overlaptune {
namespace {

constexpr std::size_t kLeastColumns = 40;
constexpr std::size_t kPaints = 5;

/// The character of each paint, in the order of `Paint`. The ASCII ones differ as much in how dark
/// they look.
constexpr std::array<std::string_view, kPaints> kBlocks{"█", "▓", "▒", "░", "╳"};
constexpr std::array<std::string_view, kPaints> kAscii{"#", "=", "+", "-", "!"};

std::string_view character(Paint paint, bool utf8) {
  return (utf8 ? kBlocks : kAscii).at(static_cast<std::size_t>(paint));
}

/// Length in characters. All texts of figures are UTF-8.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xC0') != '\x80'; }));
}

/// Puts "u" for the letter of "µs".
std::string in_ascii(std::string text) {
  constexpr std::string_view kMicro = "µ";
  for (std::size_t at = 0; (at = text.find(kMicro, at)) != text.npos;) {
    text.replace(at, kMicro.size(), "u");
  }
  return text;
}

bool is_drawn(const Bar& bar) {
  return std::isfinite(bar.begin) && std::isfinite(bar.end) && bar.end > bar.begin;
}

double extent_of(const Figure& figure) {
  double extent = 0;
  for (const Panel& panel : figure.panels) {
    for (const Lane& lane : panel.lanes) {
      for (const Bar& bar : lane.bars) {
        if (is_drawn(bar)) extent = std::max(extent, bar.end);
      }
    }
  }
  return extent;
}

std::string drawn(const Lane& lane, double cell, std::size_t cells, bool utf8) {
  std::string line;
  for (std::size_t i = 0; i < cells; ++i) {
    const double begin = static_cast<double>(i) * cell;
    std::array<double, kPaints> filled{};
    double all = 0;
    for (const Bar& bar : lane.bars) {
      if (!is_drawn(bar)) continue;
      const double part = std::min(bar.end, begin + cell) - std::max(bar.begin, begin);
      if (part <= 0) continue;
      filled.at(static_cast<std::size_t>(bar.paint)) += part;
      all += part;
    }
    const auto most = std::max_element(filled.begin(), filled.end());
    line += all <= 0 || 2 * all < cell ? " "
                                       : character(static_cast<Paint>(most - filled.begin()), utf8);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The keys that have paints, in as few lines as they fit.
std::string legend(const Figure& figure, std::size_t columns, bool utf8) {
  std::string text;
  std::size_t used = 0;
  for (const Key& key : figure.legend) {
    if (key.paints.empty()) continue;
    std::string entry;
    for (const Paint paint : key.paints) entry += character(paint, utf8);
    entry += " " + key.label;
    if (used > 0) {
      const bool fits = used + 3 + width(entry) <= columns;
      text += fits ? "   " : "\n";
      used = fits ? used + 3 : 0;
    }
    text += entry;
    used += width(entry);
  }
  return text + "\n";
}

}  // namespace

std::string to_blocks(const Figure& figure, const BlockStyle& style) {
  const std::size_t columns = std::max(style.columns, kLeastColumns);
  std::size_t name_width = 0;
  for (const Panel& panel : figure.panels) {
    for (const Lane& lane : panel.lanes) name_width = std::max(name_width, width(lane.name) + 1);
  }
  const std::size_t cells = columns - std::min(name_width, columns / 2);
  const double extent = extent_of(figure);
  std::string text;
  for (const Panel& panel : figure.panels) {
    text += panel.title + style.mark + "\n";
    for (const Lane& lane : panel.lanes) {
      text += fmt::format("{:<{}}{}\n", lane.name, name_width,
                          drawn(lane, extent / static_cast<double>(cells), cells, style.utf8));
    }
  }
  const std::string end = fmt::format("{:.1f} µs{}", extent, style.mark);
  const std::size_t gap = cells - std::min(cells, width(end) + 1);
  text += fmt::format("{:<{}}0{:{}}{}\n", "", name_width, "", gap, end);
  text += legend(figure, columns, style.utf8);
  return style.utf8 ? text : in_ascii(std::move(text));
}

}  // namespace overlaptune
