#pragma once
// A figure of bars over one time axis, drawn as SVG.

#include <string>
#include <vector>

namespace overlaptune {

enum class Paint { blue, light_blue, green, light_green, orange };

/// A bar in a lane. Begin and end are in the unit of the figure's axis. A bar without length, or
/// whose ends are not finite, is not drawn.
struct Bar {
  double begin = 0;
  double end = 0;
  Paint paint = Paint::blue;
  std::string label{};  ///< drawn where the bar is wide enough
  std::string hint{};   ///< text that a viewer shows under the pointer
};

/// A thin line from the lower edge of a lane, at `from`, to the upper edge of the next one.
struct Link {
  double from = 0;
  double to = 0;
};

struct Lane {
  std::string name;
  std::vector<Bar> bars{};
  std::vector<Link> links{};  ///< to the next lane of the panel
};

struct Panel {
  std::string title;
  std::vector<Lane> lanes{};
};

/// A line of the legend. Without paints it explains a link.
struct Key {
  std::vector<Paint> paints{};
  std::string label;
};

struct Figure {
  std::string title;
  std::vector<std::string> notes{};  ///< lines under the title; long ones are broken
  std::vector<Key> legend{};
  std::vector<Panel> panels{};  ///< one under the other, over the same axis
  std::string axis;             ///< label of the axis, with its unit
};

/// An SVG document, 900 units wide, without scripts or embedded fonts. It draws its background,
/// white or dark as the viewer prefers. All texts may hold any bytes.
[[nodiscard]] std::string to_svg(const Figure& figure);

}  // namespace overlaptune
