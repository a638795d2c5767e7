// The figure of speedups: a bar for each operation and number of tokens, beside the ideal.
import { axisStyle, Chart, isNarrow, lines, type Option, rowSlider, tooltipStyle } from "./chart";
import type { Winner } from "./data";
import { element } from "./dom";
import { hidden, ratio, time, tokens } from "./format";
import { fullName, idealSpeedup, operation, shortOperation, tokensOf } from "./labels";
import { color } from "./theme";

const rowHeight = 22;
const mostRows = 40; // of the figure at once; more are scrolled

function option(winners: Winner[], narrow: boolean): Option {
  const names = winners.map(
    (winner) => `${winner.model ?? ""}${winner.parallelism ?? ""}${operation(winner)}`,
  );
  const label = (index: number) => {
    const winner = winners[index];
    if (!winner) return "";
    const first =
      names[index] !== names[index - 1]
        ? `{operation|${narrow ? shortOperation(winner) : operation(winner)}} ${narrow ? "" : "  "}`
        : "";
    return `${first}{tokens|${tokens(tokensOf(winner))}}`;
  };
  const gain = (value: number | null) => (value === null ? null : value - 1);
  const furthest = (winner: Winner) => Math.max(winner.speedup ?? 1, idealSpeedup(winner) ?? 1) - 1;
  const scrolled = winners.length > mostRows;
  return {
    grid: {
      left: 8,
      right: (narrow ? 50 : 120) + (scrolled ? 20 : 0),
      top: 8,
      bottom: 28,
      containLabel: true,
    },
    xAxis: {
      type: "value",
      ...axisStyle(),
      splitLine: { lineStyle: { color: color("grid") }, showMaxLine: false },
      minInterval: 0.1,
      splitNumber: narrow ? 2 : 5,
      max: Math.max(0.1, ...winners.map(furthest)),
      axisLabel: {
        color: color("soft"),
        showMaxLabel: false,
        formatter: (value: number) => `${(1 + value).toFixed(1)}×`,
      },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: winners.map((_, index) => String(index)),
      ...axisStyle(),
      axisTick: { show: false },
      axisLabel: {
        interval: 0,
        formatter: (text: string) => label(Number(text)),
        rich: {
          operation: { color: color("text"), fontWeight: 600 },
          tokens: { color: color("soft"), width: 34, align: "right" },
        },
      },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: color("hover") } },
      formatter: (points: { dataIndex: number }[]) => {
        const winner = winners[points[0]!.dataIndex]!;
        return lines(
          fullName(winner),
          `${ratio(winner.speedup)}: ${time(winner.measured_us)} instead of ${time(winner.sequential_us)}`,
          `ideal ${ratio(idealSpeedup(winner))}; hidden ${hidden(winner.hidden)}`,
          winner.config,
        );
      },
    },
    dataZoom: scrolled ? rowSlider(mostRows) : [],
    series: [
      {
        type: "bar",
        barWidth: 12,
        cursor: "pointer",
        data: winners.map((winner) => ({
          value: gain(winner.speedup),
          itemStyle: {
            color: color(winner.strategy === "sequential" ? "neutral" : "gemm"),
            borderRadius: [0, 2, 2, 0],
          },
        })),
      },
      {
        type: "scatter",
        symbol: "rect",
        symbolSize: [3, 16],
        silent: true,
        itemStyle: { color: color("text") },
        data: winners.map((winner, index) => [gain(idealSpeedup(winner)), index]),
      },
      {
        type: "scatter",
        symbolSize: 0,
        silent: true,
        label: {
          show: true,
          position: "right",
          distance: 8,
          color: color("text"),
          formatter: ({ dataIndex }: { dataIndex: number }) => {
            const winner = winners[dataIndex]!;
            const ideal = idealSpeedup(winner);
            return `{speedup|${ratio(winner.speedup)}}${ideal && !narrow ? `{ideal| of ${ratio(ideal)}}` : ""}`;
          },
          rich: { speedup: { fontWeight: 600, color: color("text") }, ideal: { color: color("soft") } },
        },
        data: winners.map((winner, index) => [furthest(winner), index]),
      },
    ],
  };
}

/** Returns a function that draws the given winners. */
export function speedupFigure(
  figure: HTMLElement,
  select: (winner: Winner) => void,
): (winners: Winner[]) => void {
  let shown: Winner[] = [];
  const draws = () => option(shown, isNarrow(figure));
  const plot = element("div");
  const made = () => {
    const chart = new Chart(plot, draws, 100);
    chart.on("click", ({ dataIndex }) => {
      const winner = shown[dataIndex];
      if (winner) select(winner);
    });
    return chart;
  };
  let chart: Chart | null = null; // made where there are bars to draw
  figure.append(plot, element("figcaption", {}, legend()));
  return (winners) => {
    shown = winners;
    const rows = Math.max(1, Math.min(winners.length, mostRows));
    const text = winners
      .slice(0, mostRows)
      .map((winner) => `${fullName(winner)}: ${ratio(winner.speedup)}`)
      .join("; ");
    chart ??= made();
    chart.update(draws, rows * rowHeight + 44, `Bars of speedups. ${text}`);
  };
}

function legend() {
  const key = (kind: string, text: string) =>
    element("span", { class: "key" }, element("i", { class: kind }), text);
  return element("span", { class: "keys" }, key("speedup", "speedup"), key("tick", "ideal"));
}
