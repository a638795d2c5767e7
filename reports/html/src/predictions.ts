// How well the model predicts: predicted against measured, and what following it costs.
import { axisStyle, Chart, lines, type Option, tooltipStyle } from "./chart";
import type { Candidate, Platform, Report, Show } from "./data";
import { asTable, element, plainTable } from "./dom";
import { count, percent, signedPercent, time, words } from "./format";
import { color } from "./theme";

const kinds = [
  { strategy: "signaled", paint: "gemm", symbol: "circle" },
  { strategy: "chunked", paint: "exposed", symbol: "triangle" },
  { strategy: "peer_store", paint: "fourth", symbol: "diamond" },
  { strategy: "waiting", paint: "fifth", symbol: "arrow" },
  { strategy: "sequential", paint: "exchange", symbol: "rect" },
];

const error = (row: Candidate) => row.predicted_us / row.measured_us - 1;
const mostError = 0.5; // what lies beyond is drawn at the edge

function errorOption(rows: Candidate[]): Option {
  const most = rows.reduce((largest, row) => Math.max(largest, Math.abs(error(row))), 0.01);
  const edge = Math.min(mostError, Math.ceil(most * 10) / 10) * 100;
  return {
    grid: { left: 8, right: 16, top: 34, bottom: 30, containLabel: true },
    legend: {
      top: 0,
      left: 0,
      textStyle: { color: color("text") },
      itemHeight: 9,
      itemWidth: 12,
      itemGap: 16,
      selectedMode: false,
    },
    xAxis: {
      type: "log",
      name: "measured time",
      nameLocation: "middle",
      nameGap: 28,
      ...axisStyle(),
      axisLabel: {
        color: color("soft"),
        showMaxLabel: false,
        formatter: (value: number) => time(value).replace(".0", ""),
      },
      min: "dataMin",
      max: "dataMax",
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: -edge,
      max: edge,
      interval: edge / 2,
      ...axisStyle(),
      axisLabel: {
        color: color("soft"),
        formatter: (value: number) => (value > 0 ? `+${value} %` : `${value} %`.replace("-", "−")),
      },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ data }: { data: { row: Candidate } }) =>
        lines(
          data.row.problem,
          `predicted ${time(data.row.predicted_us)}, measured ${time(data.row.measured_us)}: ${signedPercent(error(data.row))}`,
          data.row.rank === null ? "" : `choice ${data.row.rank + 1} of the model`,
          data.row.config,
        ),
    },
    series: kinds
      .map((kind) => ({ ...kind, own: rows.filter((row) => row.strategy === kind.strategy) }))
      .filter(({ own }) => own.length > 0)
      .map(({ strategy, paint, symbol, own }) => ({
        name: words(strategy),
        type: "scatter",
        large: true,
        largeThreshold: 500,
        symbol,
        symbolSize: 7,
        itemStyle: { color: color(paint), opacity: rows.length > 500 ? 0.5 : 0.75 },
        data: own.map((row) => ({
          value: [row.measured_us, Math.max(-edge, Math.min(edge, 100 * error(row)))],
          row,
        })),
      })),
  };
}

const steps = [0.001, 0.01, 0.02, 0.05, 0.1, Infinity];
const stepNames = ["none", "to 1 %", "1 to 2 %", "2 to 5 %", "5 to 10 %", "over 10 %"];

/** How many regrets lie in each step. */
const histogram = (regrets: number[]) =>
  steps.map((step, i) => regrets.filter((regret) => regret < step && regret >= (steps[i - 1] ?? -1)).length);

function regretOption(regrets: number[]): Option {
  return {
    grid: { left: 8, right: 16, top: 24, bottom: 30, containLabel: true },
    xAxis: {
      type: "category",
      data: stepNames,
      name: "slower than the best measured",
      nameLocation: "middle",
      nameGap: 28,
      ...axisStyle(),
      axisTick: { show: false },
      axisLabel: { color: color("soft"), interval: 0, fontSize: 11 },
    },
    yAxis: { type: "value", minInterval: 1, ...axisStyle() },
    tooltip: {
      ...tooltipStyle(),
      trigger: "item",
      formatter: ({ name, value }: { name: string; value: number }) =>
        lines(`${name}: ${count(value, "problem")}`),
    },
    series: [
      {
        type: "bar",
        barCategoryGap: "25%",
        data: histogram(regrets),
        itemStyle: { color: color("gemm"), borderRadius: [2, 2, 0, 0] },
        label: { show: true, position: "top", color: color("text") },
      },
    ],
  };
}

function sentence({ evaluation }: Platform): string {
  if (evaluation.count === 0) return "No overlapped config was measured on this platform.";
  return (
    `Over ${count(evaluation.count, "overlapped config")}, a prediction is ${percent(evaluation.error_mean, 1)} off in the mean, and less than ` +
    `${percent(evaluation.error_p90, 1)} in nine of ten. Who runs the model's first choice unseen loses ${percent(evaluation.regret_top1_mean, 1)} in the mean ` +
    `to the best config that was measured; who measures the first ${evaluation.shortlist}, ${percent(evaluation.regret_shortlist_mean, 1)}.`
  );
}

export function predictionsSection(parent: HTMLElement, report: Report): Show {
  const said = element("p", { class: "said" });
  const errors = element("figure", {}, element("h3", {}, "Predicted against measured"));
  const regrets = element("figure", {}, element("h3", {}, "Regret of the model's first choice"));
  parent.append(
    element("h2", { id: "predictions-title" }, "How well the model predicts"),
    said,
    element("div", { class: "pair" }, errors, regrets),
  );
  let rows: Candidate[] = [];
  let regret: number[] = [];
  const errorChart = new Chart(errors, () => errorOption(rows), 300);
  const regretChart = new Chart(regrets, () => regretOption(regret), 300);
  const note = element("figcaption");
  errors.append(note);
  regrets.append(
    element(
      "figcaption",
      {},
      "Number of problems. Regret is how much slower the first choice runs than the best config that was measured.",
    ),
  );
  regrets.append(
    asTable(() =>
      plainTable(
        "Regrets",
        ["regret", "problems"],
        histogram(regret).map((value, i) => [stepNames[i]!, value]),
      ),
    ),
  );

  return (index) => {
    const platform = report.platforms[index]!;
    rows = report.candidates.filter((row) => row.platform === index);
    const problems = new Map(
      report.winners
        .filter((winner) => winner.platform === index && winner.regret !== null)
        .map((winner) => [
          [winner.op, winner.m, winner.n, winner.k, winner.dtype, winner.ranks, winner.launch].join(),
          winner.regret!,
        ]),
    );
    regret = [...problems.values()];
    parent.hidden = rows.length === 0;
    said.textContent = sentence(platform);
    note.textContent =
      report.candidates.length < report.candidatesInAll
        ? `${count(report.candidates.length, "config")} of ${report.candidatesInAll} are drawn, evenly chosen.`
        : `A point for each measured config; 0 % is a perfect prediction.`;
    errorChart.update(
      () => errorOption(rows),
      300,
      `Errors of ${rows.length} predictions against measured times. ${sentence(platform)}`,
    );
    regretChart.update(
      () => regretOption(regret),
      300,
      `Histogram of regrets: ${histogram(regret)
        .map((value, i) => `${stepNames[i]}: ${value}`)
        .join(", ")}`,
    );
  };
}
