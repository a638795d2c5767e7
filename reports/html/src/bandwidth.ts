// Probed collectives: bus bandwidth against bytes, a line for each number of CTAs, and what a link carries.
import { axisStyle, Chart, lines, type Option, tooltipStyle } from "./chart";
import type { CollectivePoint, Report, Show } from "./data";
import { asTable, element, plainTable } from "./dom";
import { bytes, rate, time, words } from "./format";
import { color } from "./theme";

const algorithmRate = (point: CollectivePoint) => point.bytes / point.time_us / 1e3;
const busRate = (point: CollectivePoint) => algorithmRate(point) * point.bus_factor;
const ctas = (count: number) => (count === 0 ? "NCCL's choice" : `${count} CTAs`);
const curveName = (point: CollectivePoint) =>
  `${words(point.collective)}, ${words(point.transport)}, ${point.ranks} GPUs`;

function option(points: CollectivePoint[], limit: number | null): Option {
  const counts = [...new Set(points.map((point) => point.comm_ctas))].sort((a, b) => a - b);
  const given = counts.filter((count) => count > 0);
  // More CTAs, darker (in the dark: lighter) line: an order that survives any colour blindness.
  const paint = (count: number) =>
    count === 0
      ? color("exposed")
      : color(
          `ramp-${given.length < 2 ? 5 : 1 + Math.round((4 * given.indexOf(count)) / (given.length - 1))}`,
        );
  const symbols = ["circle", "rect", "triangle", "diamond"];
  return {
    grid: { left: 8, right: 24, top: 58, bottom: 34, containLabel: true },
    legend: { top: 0, left: 0, textStyle: { color: color("text") }, type: "scroll" },
    xAxis: {
      type: "log",
      logBase: 4,
      name: "bytes of the buffer",
      nameLocation: "middle",
      nameGap: 28,
      ...axisStyle(),
      min: "dataMin",
      max: "dataMax",
      axisLabel: { color: color("soft"), formatter: bytes, hideOverlap: true },
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      name: "bus bandwidth, GB/s",
      ...axisStyle(),
      nameTextStyle: { color: color("soft"), align: "left" },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ data }: { data: { point: CollectivePoint } }) =>
        lines(
          `${bytes(data.point.bytes)}, ${ctas(data.point.comm_ctas)}: ${time(data.point.time_us)}`,
          `bus bandwidth ${rate(busRate(data.point))}, algorithm bandwidth ${rate(algorithmRate(data.point))}`,
        ),
    },
    series: counts.map((count, index) => ({
      name: ctas(count),
      type: "line",
      symbol: symbols[index % symbols.length],
      symbolSize: 6,
      lineStyle: { width: 2, type: count === 0 ? "dashed" : "solid" },
      color: paint(count),
      data: points
        .filter((point) => point.comm_ctas === count)
        .map((point) => ({ value: [point.bytes, busRate(point)], point })),
      markLine:
        index === 0 && limit
          ? {
              silent: true,
              symbol: "none",
              lineStyle: { color: color("text"), type: "dotted", width: 1.5 },
              data: [{ yAxis: limit }],
              label: {
                formatter: `one link: ${rate(limit)}`,
                position: "insideStartTop",
                color: color("text"),
              },
            }
          : undefined,
    })),
  };
}

export function bandwidthSection(parent: HTMLElement, report: Report): Show {
  const choice = element("select", { "aria-label": "Collective" });
  const said = element("p", { class: "said" });
  const figure = element("figure");
  parent.append(
    element("h2", { id: "bandwidth-title" }, "Bandwidth of the collectives"),
    element("div", { class: "filter" }, choice),
    said,
    figure,
  );
  let points: CollectivePoint[] = [];
  let limit: number | null = null;
  const chart = new Chart(figure, () => option(points, limit), 340);
  figure.append(
    element(
      "figcaption",
      {},
      "Each collective alone, as probed. Bus bandwidth as nccl-tests defines it: what crosses a GPU's link in one direction. " +
        "The dotted line is the fastest copy from one GPU to its neighbour that was measured.",
    ),
    asTable(() =>
      plainTable(
        "Probed collectives",
        ["collective", "CTAs", "bytes", "time µs", "algbw GB/s", "busbw GB/s"],
        report.collectives
          .filter((point) => point.platform === shown)
          .map((point) => [
            curveName(point),
            ctas(point.comm_ctas),
            point.bytes,
            point.time_us.toFixed(1),
            algorithmRate(point).toFixed(2),
            busRate(point).toFixed(2),
          ]),
      ),
    ),
  );
  let shown = 0;
  const draw = () => {
    points = report.collectives.filter(
      (point) => point.platform === shown && curveName(point) === choice.value,
    );
    limit = report.platforms[shown]!.copy_gb_per_s;
    const fastest = points.reduce(
      (most, point) => (busRate(point) > busRate(most) ? point : most),
      points[0]!,
    );
    said.textContent =
      `Alone, this collective reaches ${rate(busRate(fastest))} of bus bandwidth, at ${bytes(fastest.bytes)} with ${ctas(fastest.comm_ctas)}` +
      (limit ? `; one copy reaches ${rate(limit)}.` : ".");
    chart.update(
      () => option(points, limit),
      340,
      `Bus bandwidth against bytes of ${choice.value}. ${said.textContent}`,
    );
  };
  choice.addEventListener("change", draw);
  return (index) => {
    shown = index;
    const names = [...new Set(report.collectives.filter((point) => point.platform === index).map(curveName))];
    parent.hidden = names.length === 0;
    choice.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    if (names.length > 0) draw();
  };
}
