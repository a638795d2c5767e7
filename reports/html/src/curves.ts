// Speedup over tokens: a line for each operation, with its 10th to 90th percentile as a band around it.
import { axisStyle, Chart, isNarrow, lines, type Option, tooltipStyle } from "./chart";
import type { Winner } from "./data";
import { asTable, element, plainTable } from "./dom";
import { ratio, tokens } from "./format";
import { tokensOf } from "./labels";
import { type Operation, operations } from "./operations";
import { color } from "./theme";

const mostLines = 12; // more cannot be told apart
const height = 340;
const paints = ["gemm", "exposed", "exchange", "fourth", "fifth", "neutral"];
const symbols = ["circle", "triangle", "diamond"];

interface Place {
  coord(at: number[]): number[];
}

interface Point {
  tokens: number;
  median: number;
  low: number; // 10th percentile; the median where only that is known
  high: number; // 90th
}

const pointsOf = ({ winners }: Operation): Point[] =>
  winners.flatMap((winner) => {
    const { speedup: median, speedup_p10: low, speedup_p90: high } = winner;
    if (median === null) return [];
    return [{ tokens: tokensOf(winner), median, low: low ?? median, high: high ?? median }];
  });

/** The area between the percentiles, there along the low ones and back along the high ones. */
function band(points: Point[], paint: string, api: Place) {
  const edge = [
    ...points.map(({ tokens, low }) => [tokens, low]),
    ...[...points].reverse().map(({ tokens, high }) => [tokens, high]),
  ];
  return {
    type: "polygon",
    shape: { points: edge.map((at) => api.coord(at)) },
    style: { fill: paint, opacity: 0.18 },
    silent: true,
  };
}

/** How many rows a legend of these names takes, by the usual width of a letter. */
function legendRows(names: string[], width: number): number {
  let rows = 1;
  let used = 0;
  for (const name of names) {
    const own = 37 + 6.6 * name.length; // with its mark and the gap behind it
    if (used > 0 && used + own > width) {
      ++rows;
      used = 0;
    }
    used += own;
  }
  return rows;
}

function option(drawn: Operation[], narrow: boolean, width: number): Option {
  const ticks = [...new Set(drawn.flatMap(({ winners }) => winners.map(tokensOf)))].sort((a, b) => a - b);
  const points = drawn.map(pointsOf);
  const all = points.flat();
  const name = (operation: Operation) => (narrow ? operation.short : operation.name);
  const rows = legendRows(drawn.map(name), width);
  return {
    grid: { left: 8, right: 20, top: 12 + 20 * rows, bottom: 30, containLabel: true },
    legend: {
      top: 0,
      left: 0,
      data: drawn.map(name),
      textStyle: { color: color("text") },
      itemHeight: 9,
      itemWidth: 18,
      itemGap: 14,
      selectedMode: false,
    },
    xAxis: {
      type: "log",
      logBase: 2,
      name: "tokens",
      nameLocation: "middle",
      nameGap: 28,
      min: ticks[0],
      max: ticks[ticks.length - 1],
      ...axisStyle(),
      splitLine: { show: false },
      axisLabel: {
        color: color("soft"),
        customValues: ticks,
        hideOverlap: true,
        formatter: (value: number) => tokens(Math.round(value)),
      },
      axisTick: { customValues: ticks, lineStyle: { color: color("line") } },
    },
    yAxis: {
      type: "value",
      min: Math.floor(10 * Math.min(1, ...all.map(({ low }) => low))) / 10,
      max: Math.ceil(10 * Math.max(1.1, ...all.map(({ high }) => high))) / 10,
      ...axisStyle(),
      axisLabel: { color: color("soft"), formatter: (value: number) => `${value.toFixed(1)}×` },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ seriesName, data }: { seriesName: string; data: { point: Point } }) =>
        lines(
          `${seriesName}, ${tokens(data.point.tokens)} tokens`,
          `${ratio(data.point.median)}; p10 ${ratio(data.point.low)}, p90 ${ratio(data.point.high)}`,
        ),
    },
    series: drawn.flatMap((operation, index) => {
      const paint = color(paints[index % paints.length]!);
      const own = points[index]!;
      return [
        {
          type: "custom",
          silent: true,
          tooltip: { show: false },
          renderItem: (_: unknown, api: Place) => band(own, paint, api),
          data: own.length > 1 ? [[own[0]!.tokens, own[0]!.median]] : [],
          z: 1,
        },
        {
          type: "line",
          name: name(operation),
          symbol: symbols[Math.floor(index / paints.length) % symbols.length],
          symbolSize: 8,
          lineStyle: { color: paint, width: 2, type: index < paints.length ? "solid" : "dashed" },
          itemStyle: { color: paint },
          data: own.map((point) => ({ value: [point.tokens, point.median], point })),
          z: 3,
        },
      ];
    }),
  };
}

const drawable = (winners: Winner[]) =>
  operations(winners).filter((operation) => pointsOf(operation).length > 1);

/** Returns a function that draws the given winners; it hides the figure where there is nothing to join by lines. */
export function curvesFigure(figure: HTMLElement): (winners: Winner[]) => void {
  let drawn: Operation[] = [];
  const draws = () => option(drawn, isNarrow(figure), figure.clientWidth);
  figure.append(element("h3", {}, "Speedup over tokens"));
  const plot = element("div");
  const note = element("figcaption");
  const numbers = asTable(() =>
    plainTable(
      "Speedup over tokens",
      ["operation", "tokens", "speedup", "p10", "p90"],
      drawn.flatMap((operation) =>
        pointsOf(operation).map((point) => [
          operation.name,
          tokens(point.tokens),
          ratio(point.median),
          ratio(point.low),
          ratio(point.high),
        ]),
      ),
    ),
  );
  figure.append(plot, note, numbers);
  let chart: Chart | null = null; // made where there is a line to draw
  return (winners) => {
    drawn = drawable(winners);
    const several = drawn.length > mostLines;
    figure.hidden = drawn.length === 0;
    plot.hidden = several;
    numbers.open = false; // it is made anew when it is opened
    note.textContent = several
      ? `${drawn.length} operations are too many for lines: a filter that leaves ${mostLines} or fewer shows them.`
      : "A line for each operation. Its band reaches from the 10th to the 90th percentile of the repetitions; 1× is the time of one after the other.";
    if (drawn.length === 0 || several) return;
    chart ??= new Chart(plot, draws, height);
    chart.update(
      draws,
      height,
      `Lines of speedup over tokens. ${drawn
        .map(
          (operation) =>
            `${operation.name}: ${pointsOf(operation)
              .map((point) => `${ratio(point.median)} at ${tokens(point.tokens)}`)
              .join(", ")}`,
        )
        .join("; ")}`,
    );
  };
}
