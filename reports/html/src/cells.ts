// Coloured cells with a number in each: the peer matrix and the heat map.
import { color } from "./theme";

/** The part of ECharts' interface to drawings of one's own that a cell needs. */
export interface CellPlace {
  coord(at: number[]): number[];
  size(of: number[]): number[];
}

/** Black or white, whichever is easier to read on a colour `#rrggbb`. */
function ink(paint: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(paint.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

/** One of five colours of the ramp: the stronger, the larger `part`, which is 0 to 1. */
export const rampColor = (part: number) => color(`ramp-${Math.min(5, Math.max(1, Math.ceil(5 * part)))}`);

/** A cell in a colour, with its text where there is room for it. */
export function cellAt(api: CellPlace, at: [number, number], paint: string, text: string) {
  const [x, y] = api.coord(at) as [number, number];
  const [width, height] = api.size([1, 1]) as [number, number];
  return {
    type: "rect",
    shape: { x: x - width / 2 + 1, y: y - height / 2 + 1, width: width - 2, height: height - 2, r: 2 },
    style: { fill: paint },
    textContent:
      text.length * 7 + 4 < width ? { style: { text, fill: ink(paint), fontSize: 11 } } : undefined,
    textConfig: { position: "inside" },
  };
}
