// Speedups as a map, where bars would be too many: a row for each operation, a column for each number of tokens.
import { type CellPlace, cellAt, rampColor } from "./cells";
import { axisStyle, Chart, isNarrow, lines, type Option, rowSlider, tooltipStyle } from "./chart";
import type { Winner } from "./data";
import { element } from "./dom";
import { ratio, time, tokens } from "./format";
import { fullName, tokensOf } from "./labels";
import { type Operation, operations } from "./operations";
import { color } from "./theme";

const rowHeight = 24;
const mostRows = 30; // of the figure at once; more are scrolled

interface Cell {
  at: [number, number]; // column, row
  winner: Winner;
}

interface HeatMap {
  rows: Operation[];
  columns: number[]; // tokens
  cells: Cell[];
  most: number; // the largest gain
}

function heatMapOf(winners: Winner[]): HeatMap {
  const rows = operations(winners);
  const columns = [...new Set(winners.map(tokensOf))].sort((a, b) => a - b);
  const columnOf = new Map(columns.map((count, index) => [count, index]));
  const cells = rows.flatMap((row, index) =>
    row.winners.map((winner): Cell => ({ at: [columnOf.get(tokensOf(winner))!, index], winner })),
  );
  return {
    rows,
    columns,
    cells,
    most: winners.reduce((most, { speedup }) => Math.max(most, (speedup ?? 1) - 1), 0.01),
  };
}

/** Grey where overlap does not pay; else the stronger, the more it gains. */
function paintOf({ strategy, speedup }: Winner, most: number): string {
  return strategy === "sequential" ? color("neutral") : rampColor(((speedup ?? 1) - 1) / most);
}

function option({ rows, columns, cells, most }: HeatMap, narrow: boolean): Option {
  const scrolled = rows.length > mostRows;
  return {
    grid: { left: 8, right: scrolled ? 32 : 8, top: 48, bottom: 8, containLabel: true },
    xAxis: {
      type: "category",
      position: "top",
      name: "tokens",
      nameLocation: "middle",
      nameGap: 26,
      data: columns.map(tokens),
      ...axisStyle(),
      axisTick: { show: false },
      splitLine: { show: false },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map((_, index) => String(index)),
      ...axisStyle(),
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: {
        color: color("text"),
        interval: 0,
        formatter: (text: string) => rows[Number(text)]?.[narrow ? "short" : "name"] ?? "",
      },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const { winner } = cells[dataIndex]!;
        return lines(
          fullName(winner),
          `${ratio(winner.speedup)}: ${time(winner.measured_us)} instead of ${time(winner.sequential_us)}`,
          winner.config,
        );
      },
    },
    dataZoom: scrolled ? rowSlider(mostRows) : [],
    series: [
      {
        type: "custom",
        cursor: "pointer",
        encode: { x: 0, y: 1 },
        renderItem: ({ dataIndex }: { dataIndex: number }, api: CellPlace) => {
          const { at, winner } = cells[dataIndex]!;
          return cellAt(api, at, paintOf(winner, most), (winner.speedup ?? 1).toFixed(2));
        },
        data: cells.map(({ at }) => at),
      },
    ],
  };
}

/** Returns a function that draws the given winners. */
export function heatMapFigure(
  figure: HTMLElement,
  select: (winner: Winner) => void,
): (winners: Winner[]) => void {
  let shown = heatMapOf([]);
  const draws = () => option(shown, isNarrow(figure));
  const plot = element("div");
  const made = () => {
    const chart = new Chart(plot, draws, 100);
    chart.on("click", ({ dataIndex }) => {
      const cell = shown.cells[dataIndex];
      if (cell) select(cell.winner);
    });
    return chart;
  };
  let chart: Chart | null = null; // made where there is a map to draw
  figure.append(
    plot,
    element(
      "figcaption",
      {},
      "Speedup of each operation (row) by tokens (column): the stronger the colour, the larger. Grey: one after the other stays the fastest.",
    ),
  );
  return (winners) => {
    shown = heatMapOf(winners);
    const drawn = Math.max(1, Math.min(shown.rows.length, mostRows));
    chart ??= made();
    chart.update(
      draws,
      drawn * rowHeight + 64,
      `Map of the speedups of ${shown.rows.length} operations at ${shown.columns.length} numbers of tokens. ` +
        shown.cells
          .slice(0, mostRows)
          .map(({ winner }) => `${fullName(winner)}: ${ratio(winner.speedup)}`)
          .join("; "),
    );
  };
}
