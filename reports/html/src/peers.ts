// The peer matrix: what a copy from each GPU to each other reaches, as a square of coloured cells.
import { type CellPlace, cellAt, rampColor } from "./cells";
import { axisStyle, Chart, lines, type Option, tooltipStyle } from "./chart";
import type { Peers, Report, Show } from "./data";
import { asTable, element, plainTable } from "./dom";
import { rate, time } from "./format";

interface Cell {
  from: number;
  to: number;
  value: number;
}

interface Measure {
  name: string;
  shown: (value: number) => string;
  short: (value: number) => string;
  of: (link: [number | null, number | null]) => number | null;
  worst: (values: number[]) => number;
  worstName: string;
}

const measures: Measure[] = [
  {
    name: "Bandwidth",
    shown: rate,
    short: (value) => value.toFixed(value < 10 ? 1 : 0),
    of: ([gbPerS]) => gbPerS,
    worst: (values) => Math.min(...values),
    worstName: "slowest",
  },
  {
    name: "Latency",
    shown: time,
    short: (value) => value.toFixed(1),
    of: ([, latency]) => latency,
    worst: (values) => Math.max(...values),
    worstName: "longest",
  },
];

function cells(peers: Peers, measure: Measure): Cell[] {
  return peers.links
    .map((link, index) => ({
      from: Math.floor(index / peers.gpus),
      to: index % peers.gpus,
      value: measure.of(link),
    }))
    .filter((cell): cell is Cell => cell.value !== null);
}

/** A cell, the darker (in the dark: the lighter) the larger its part of the largest value. */
const drawn = (cell: Cell, measure: Measure, most: number, api: CellPlace) =>
  cellAt(api, [cell.to, cell.from], rampColor(cell.value / most), measure.short(cell.value));

function option(all: Cell[], gpus: number, measure: Measure): Option {
  const most = Math.max(...all.map((cell) => cell.value));
  const axis = (name: string) => ({
    type: "category",
    name,
    nameLocation: "middle",
    data: Array.from({ length: gpus }, (_, gpu) => String(gpu)),
    ...axisStyle(),
    axisTick: { show: false },
    splitLine: { show: false },
  });
  return {
    grid: { left: 48, right: 8, top: 48, bottom: 8 },
    xAxis: { ...axis("to GPU"), position: "top", nameGap: 26 },
    yAxis: { ...axis("from GPU"), inverse: true, nameGap: 28 },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const { from, to, value } = all[dataIndex]!;
        return lines(`from GPU ${from} to GPU ${to}: ${measure.shown(value)}`);
      },
    },
    series: [
      {
        type: "custom",
        name: measure.name,
        encode: { x: 0, y: 1 },
        renderItem: ({ dataIndex }: { dataIndex: number }, api: never) =>
          drawn(all[dataIndex]!, measure, most, api),
        data: all.map(({ from, to, value }) => [to, from, value]),
      },
    ],
  };
}

function summary(all: Cell[], measure: Measure): string {
  const values = all.map((cell) => cell.value);
  const worst = all.find((cell) => cell.value === measure.worst(values))!;
  return (
    `${measure.name} of copies between two GPUs: ${measure.shown(Math.min(...values))} to ` +
    `${measure.shown(Math.max(...values))}; the ${measure.worstName} is from GPU ${worst.from} to GPU ${worst.to}.`
  );
}

export function peersSection(parent: HTMLElement, report: Report): Show {
  const choice = element("select", { "aria-label": "Figure of the peer matrix" });
  const said = element("p", { class: "said" });
  const figure = element("figure");
  parent.append(
    element("h2", { id: "peers-title" }, "Peer matrix"),
    element("div", { class: "filter" }, choice),
    said,
    figure,
  );
  const plot = element("div");
  let chart: Chart | null = null; // made where there is a matrix to draw
  let shown: Peers = { gpus: 0, links: [] };
  figure.append(
    plot,
    element(
      "figcaption",
      {},
      "One GPU (row) copies to one other (column) by a copy engine, while the others are idle. Bandwidth is that of a copy of " +
        "256 MiB; latency is the time of a copy of 4 KiB, launch included. The larger the value, the stronger the colour. " +
        "Pairs of more than 16 GPUs are not probed.",
    ),
    asTable(() =>
      plainTable(
        "Copies between two GPUs",
        ["from GPU", "to GPU", "bandwidth GB/s", "latency µs"],
        shown.links.flatMap(([gbPerS, latency], index) =>
          gbPerS === null && latency === null
            ? []
            : [
                [
                  Math.floor(index / shown.gpus),
                  index % shown.gpus,
                  gbPerS?.toFixed(1) ?? "–",
                  latency?.toFixed(2) ?? "–",
                ],
              ],
        ),
      ),
    ),
  );
  const draw = () => {
    const measure = measures.find(({ name }) => name === choice.value)!;
    const all = cells(shown, measure);
    const { gpus } = shown;
    const draws = () => option(all, gpus, measure);
    const height = 64 + 28 * gpus;
    said.textContent = summary(all, measure);
    chart ??= new Chart(plot, draws, height);
    chart.update(draws, height, said.textContent);
  };
  choice.addEventListener("change", draw);
  return (index) => {
    const peers = report.platforms[index]!.peers;
    parent.hidden = peers === null;
    if (!peers) return;
    shown = peers;
    const known = measures.filter((measure) => cells(peers, measure).length > 0);
    choice.replaceChildren(...known.map(({ name }) => element("option", { value: name }, name)));
    draw();
  };
}
