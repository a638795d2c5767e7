#include "reports/figure.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace overlaptune {
namespace {

constexpr double kWidth = 900;
constexpr double kMargin = 24;
constexpr double kPlotLeft = 140;  // the names of lanes are to its left
constexpr double kPlotRight = kWidth - kMargin;
constexpr double kLaneHeight = 26;
constexpr double kLaneGap = 14;  // room for the links
constexpr double kLine = 18;     // from one line of text to the next
constexpr double kPanelGap = 20;
constexpr double kSwatch = 14;
constexpr int kMostTicks = 9;
/// Width of a letter divided by the size of its font; rather too large, because fonts differ.
constexpr double kLetter = 0.6;
constexpr double kTextSize = 12;
constexpr double kLabelSize = 11;

/// Colours that readers who see no red or no green can tell apart, and on which white text is
/// readable.
constexpr std::string_view colour(Paint paint) {
  switch (paint) {
    case Paint::blue:
      return "#1f5fa8";
    case Paint::light_blue:
      return "#3d7cc0";
    case Paint::green:
      return "#0f6e52";
    case Paint::light_green:
      return "#2c8a6b";
    case Paint::orange:
      return "#b85c00";
  }
  return "none";
}

constexpr std::string_view kStyle = R"(<style>
.back{fill:#ffffff} text{fill:#1f2328;font-family:sans-serif;font-size:12px}
.title{font-size:15px;font-weight:bold} .panel{font-weight:bold} .note,.tick{fill:#59636e}
.bar{stroke:#ffffff;stroke-width:0.5} .label{fill:#ffffff;font-size:11px}
.grid{stroke:#d1d9e0} .link{stroke:#59636e}
@media (prefers-color-scheme: dark) {
.back{fill:#0d1117} text{fill:#e6edf3} .note,.tick{fill:#9198a1} .label{fill:#ffffff}
.bar{stroke:#0d1117} .grid{stroke:#3d444d} .link{stroke:#9198a1}
}
</style>
)";

/// The text escaped for XML. Bytes that are not UTF-8, and control characters, become U+FFFD.
std::string escaped(const std::string& text) {
  using nlohmann::json;
  const std::string valid =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  std::string result;
  for (const char c : valid) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          result += "\uFFFD";
        } else {
          result += c;
        }
    }
  }
  return result;
}

/// Estimated width of a text; counts code points, not bytes.
double text_width(std::string_view text, double size) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  });
  return static_cast<double>(letters) * kLetter * size;
}

/// The text as lines that fit into the figure, broken after blanks and commas where there are any.
std::vector<std::string> broken(const std::string& text) {
  std::vector<std::string> lines{""};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t at = text.find_first_of(" ,", begin);
    const std::size_t end = at == std::string::npos ? text.size() : at + 1;
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() &&
        text_width(lines.back() + word, kTextSize) > kWidth - 2 * kMargin) {
      lines.emplace_back();
    }
    lines.back() += word;
    begin = end;
  }
  return lines;
}

bool is_drawn(const Bar& bar) {
  return std::isfinite(bar.begin) && std::isfinite(bar.end) && bar.begin < bar.end;
}

double last_end(const Figure& figure) {
  double last = 0;
  for (const Panel& panel : figure.panels) {
    for (const Lane& lane : panel.lanes) {
      for (const Bar& bar : lane.bars) {
        if (is_drawn(bar)) last = std::max(last, bar.end);
      }
    }
  }
  return last > 0 ? last : 1;
}

class Drawing {
 public:
  explicit Drawing(const Figure& figure) : last_(last_end(figure)) {
    y_ = kMargin;
    text(kMargin, y_ + 4, "title", figure.title);
    y_ += kLine + 6;
    for (const std::string& note : figure.notes) {
      for (const std::string& line : broken(note)) {
        text(kMargin, y_, "note", line);
        y_ += kLine;
      }
    }
    add_legend(figure.legend);
    for (const Panel& panel : figure.panels) add(panel);
    add_axis(figure.axis);
  }

  [[nodiscard]] std::string document(const std::string& title) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}"
        "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{4}{5}</svg>\n",
        kWidth, y_, escaped(title), kStyle, behind_, front_);
  }

 private:
  [[nodiscard]] double x(double value) const {
    return kPlotLeft + (kPlotRight - kPlotLeft) * value / last_;
  }

  /// The ticks of the axis: multiples of 1, 2 or 5 times a power of ten.
  [[nodiscard]] std::vector<double> ticks() const {
    double step = std::pow(10, std::floor(std::log10(last_ / kMostTicks)));
    for (const double factor : {2.0, 2.5, 2.0}) {
      if (last_ / step > kMostTicks) step *= factor;
    }
    std::vector<double> result;
    for (int i = 0; i * step <= last_; ++i) result.push_back(i * step);
    return result;
  }

  void text(double x, double y, std::string_view kind, const std::string& words,
            std::string_view anchor = "start") {
    front_ +=
        fmt::format("<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">{}</text>\n",
                    kind, x, y, anchor, escaped(words));
  }

  void add_legend(const std::vector<Key>& legend) {
    double at = kMargin;
    y_ += 4;
    for (const Key& key : legend) {
      const double symbol =
          key.paints.empty() ? kSwatch : kSwatch * static_cast<double>(key.paints.size());
      const double width = symbol + 6 + text_width(key.label, kTextSize) + 18;
      if (at > kMargin && at + width > kWidth - kMargin) {
        at = kMargin;
        y_ += kLine;
      }
      for (std::size_t i = 0; i < key.paints.size(); ++i) {
        front_ += fmt::format(
            "<rect class=\"key\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{}\" height=\"12\" "
            "fill=\"{}\"/>\n",
            at + kSwatch * static_cast<double>(i), y_ - 10, kSwatch, colour(key.paints[i]));
      }
      if (key.paints.empty()) line("link", at + 2, y_ - 11, at + kSwatch - 2, y_ + 1);
      text(at + symbol + 6, y_, "note", key.label);
      at += width;
    }
    if (!legend.empty()) y_ += kLine;
  }

  void add(const Panel& panel) {
    y_ += kPanelGap;
    text(kMargin, y_, "panel", panel.title);
    y_ += 8;
    const double top = y_;
    for (const Lane& lane : panel.lanes) {
      text(kPlotLeft - 10, y_ + kLaneHeight / 2 + 4, "lane", lane.name, "end");
      for (const Bar& bar : lane.bars) {
        if (is_drawn(bar)) add(bar);
      }
      for (const Link& link : lane.links) {
        if (!std::isfinite(link.from) || !std::isfinite(link.to)) continue;
        line("link", x(link.from), y_ + kLaneHeight, x(link.to), y_ + kLaneHeight + kLaneGap);
      }
      y_ += kLaneHeight + kLaneGap;
    }
    for (const double tick : ticks()) {
      behind_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.2f}\" y1=\"{1:.2f}\" x2=\"{0:.2f}\" y2=\"{2:.2f}\"/>\n",
          x(tick), top, y_);
    }
  }

  void add(const Bar& bar) {
    const double left = x(bar.begin);
    const double width = x(bar.end) - left;
    const std::string hint =
        bar.hint.empty() ? "" : fmt::format("<title>{}</title>", escaped(bar.hint));
    front_ += fmt::format(
        "<rect class=\"bar\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\" "
        "fill=\"{}\">{}</rect>\n",
        left, y_, width, kLaneHeight, colour(bar.paint), hint);
    if (bar.label.empty() || text_width(bar.label, kLabelSize) + 4 > width) return;
    text(left + width / 2, y_ + kLaneHeight / 2 + 4, "label", bar.label, "middle");
  }

  void add_axis(const std::string& name) {
    y_ += 14;
    text(kPlotLeft - 10, y_, "note", name, "end");
    for (const double tick : ticks())
      text(x(tick), y_, "tick", fmt::format("{:g}", tick), "middle");
    y_ += kMargin / 2;
  }

  void line(std::string_view kind, double x1, double y1, double x2, double y2) {
    front_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n", kind, x1,
        y1, x2, y2);
  }

  double last_;
  double y_ = 0;          ///< everything above is drawn
  std::string behind_{};  ///< the grid
  std::string front_{};
};

}  // namespace

std::string to_svg(const Figure& figure) {
  return Drawing(figure).document(figure.title);
}

}  // namespace overlaptune
