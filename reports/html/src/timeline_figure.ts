// The drawing of a timeline: four lanes over one axis of time, with a slider to zoom.
import { axisStyle, lines, type Option, sliderStyle, tooltipStyle } from "./chart";
import type { Winner } from "./data";
import { time } from "./format";
import { fullName } from "./labels";
import { color } from "./theme";
import type { Bar } from "./timeline_bars";

const lanes = ["one after the other\nGEMM", "collective", "overlapped\nGEMM", "collective "];

/** Draws a bar, the line from ready to start, or the mark of the measured time. */
function drawn(
  bars: Bar[],
  params: { dataIndex: number; coordSys: { x: number; width: number } },
  api: { coord(at: number[]): number[]; size(of: number[]): number[] },
) {
  const bar = bars[params.dataIndex]!;
  const [left, middle] = api.coord([bar.begin, bar.lane]) as [number, number];
  const right = api.coord([bar.end, bar.lane])[0]!;
  const row = api.size([0, 1])[1]!;
  const height = row * 0.62;
  const edge = params.coordSys.x + params.coordSys.width;
  if (bar.kind === "ready") {
    return {
      type: "line",
      silent: true,
      shape: { x1: left, y1: middle + height / 2, x2: right, y2: middle + row - height / 2 },
      style: { stroke: color("soft"), lineWidth: 1 },
    };
  }
  if (bar.kind === "measured") {
    const beyond = left > edge - 120;
    return {
      type: "group",
      silent: true,
      children: [
        {
          type: "line",
          shape: { x1: left, y1: middle - row / 2, x2: left, y2: middle + row * 1.42 },
          style: { stroke: color("text"), lineWidth: 1.5, lineDash: [4, 3] },
        },
        {
          type: "text",
          x: beyond ? left - 5 : left + 5,
          y: middle - row / 2 + 1,
          style: {
            text: bar.label,
            fill: color("text"),
            fontSize: 11,
            align: beyond ? "right" : "left",
            backgroundColor: color("panel"),
            padding: [1, 2],
          },
        },
      ],
    };
  }
  const width = Math.max(right - left, 1);
  const room = Math.min(right, edge) - Math.max(left, params.coordSys.x);
  const fits = bar.label.length * 7 + 6 < room;
  return {
    type: "rect",
    shape: { x: left, y: middle - height / 2, width, height, r: 2 },
    style: { fill: color(bar.kind), stroke: color("panel"), lineWidth: width > 3 ? 1 : 0 },
    textContent: fits
      ? { style: { text: bar.label, fill: color(`on-${bar.kind}`), fontSize: 11 } }
      : undefined,
    textConfig: { position: "inside" },
  };
}

/** The next number above `end` of the form 1, 1.25, 1.5, 2, … times a power of ten, so that the axis ends with a round label. */
function niceAbove(end: number): number {
  const power = 10 ** Math.floor(Math.log10(end));
  return (
    power * ([1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= end * 1.005) ?? 12.5)
  );
}

export function timelineOption(winner: Winner, bars: Bar[]): Option {
  const end = Math.max(...bars.map((bar) => bar.end), 1);
  return {
    grid: { left: 8, right: 24, top: 14, bottom: 78, containLabel: true },
    xAxis: {
      type: "value",
      min: 0,
      max: niceAbove(end),
      ...axisStyle(),
      axisLabel: {
        color: color("soft"),
        formatter: (value: number) => time(value).replace(".0", ""),
        hideOverlap: true,
      },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: lanes,
      ...axisStyle(),
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: { color: color("text"), lineHeight: 16 },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => lines(...bars[dataIndex]!.hint),
    },
    dataZoom: [
      { type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" },
      {
        ...sliderStyle(),
        filterMode: "none",
        bottom: 12,
        height: 26,
        labelFormatter: (value: number) => time(value),
      },
    ],
    series: [
      {
        type: "custom",
        clip: true,
        name: fullName(winner),
        encode: { x: [0, 1], y: 2 },
        renderItem: (params: never, api: never) => drawn(bars, params, api),
        data: bars.map((bar) => [bar.begin, bar.end, bar.lane]),
      },
    ],
  };
}
