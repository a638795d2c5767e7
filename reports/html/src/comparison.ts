// Two databases: which winners became faster or slower by more than the noise.
import { axisStyle, Chart, isNarrow, lines, type Option, tooltipStyle } from "./chart";
import type { ComparedWinner, Comparison } from "./data";
import { element, plainTable } from "./dom";
import { count, day, opName, percent, ratio, shortOpName, signedPercent, time, words } from "./format";
import { color } from "./theme";

const mostBars = 40;
const paints: Record<string, string> = { faster: "gemm", slower: "exposed", within_noise: "neutral" };

const nameOf = ({ problem, launch }: ComparedWinner) =>
  `${opName(problem.op)} ${problem.m}×${problem.n}×${problem.k}${launch === "graph" ? "" : `, ${launch}`}`;

/** Where both platforms are known and differ, the one here before the one there. */
const platformOf = ({ platform_here: here, platform_there: there }: ComparedWinner) =>
  here !== null && there !== null && here !== there ? `${here}, ${there}` : (here ?? there ?? "");

const shortNameOf = ({ problem }: ComparedWinner) =>
  `${shortOpName(problem.op)} ${problem.m}×${problem.n}×${problem.k}`;

function option(rows: ComparedWinner[], narrow: boolean): Option {
  return {
    grid: { left: 8, right: 60, top: 8, bottom: 28, containLabel: true },
    xAxis: {
      type: "value",
      ...axisStyle(),
      splitNumber: narrow ? 1 : 5,
      axisLabel: {
        hideOverlap: true,
        color: color("soft"),
        formatter: (value: number) => (value > 0 ? `+${value} %` : `${value} %`.replace("-", "−")),
      },
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map(narrow ? shortNameOf : nameOf),
      ...axisStyle(),
      axisTick: { show: false },
      axisLabel: { color: color("text"), interval: 0, margin: 10 },
    },
    tooltip: {
      ...tooltipStyle(),
      trigger: "axis",
      axisPointer: { type: "shadow", shadowStyle: { color: color("hover") } },
      formatter: (points: { dataIndex: number }[]) => {
        const row = rows[points[0]!.dataIndex]!;
        return lines(
          `${nameOf(row)} on ${platformOf(row)}`,
          `${time(row.here_us)} here, ${time(row.there_us)} there: ${signedPercent(row.relative_change ?? 0)}, ${words(row.change)}`,
          `noise ${time(row.noise_us)}`,
        );
      },
    },
    series: [
      {
        type: "bar",
        barWidth: 12,
        data: rows.map((row) => ({
          value: +(100 * (row.relative_change ?? 0)).toFixed(2),
          itemStyle: { color: color(paints[row.change] ?? "neutral") },
          label: {
            show: true,
            position: "right",
            formatter: signedPercent(row.relative_change ?? 0),
            color: color("text"),
          },
        })),
      },
    ],
  };
}

const fieldNames: Record<string, string> = {
  driver_version: "driver",
  cuda_version: "CUDA",
  nccl_version: "NCCL",
};
const mostFields = 3; // in the headline; the list below has all

/** "driver 570.1 there, 580.2 here": what differs, so that a reader does not look for the cause elsewhere. */
function changed(comparison: Comparison): string {
  const texts = comparison.differing
    .slice(0, mostFields)
    .map(({ field, here, there }) => `${fieldNames[field] ?? words(field)} ${there} there, ${here} here`);
  const rest = comparison.differing.length - texts.length;
  if (rest > 0) texts.push(`${rest} more`);
  return texts.length > 0 ? ` (${texts.join("; ")})` : "";
}

/** "5 % faster than on 24 November 2026 (driver 570.1 there, 580.2 here)." */
function headline(comparison: Comparison): string {
  const { newest_here: here, newest_there: there, time_ratio_geomean: mean } = comparison;
  if (mean === null || !here || !there) return "";
  const sameDay = day(here) === day(there);
  const when = sameDay ? `in ${comparison.there}` : `on ${day(there)}`;
  const end = `${sameDay ? `, both of ${day(here)}` : `; here: ${day(here)}`}${changed(comparison)}.`;
  if (comparison.faster + comparison.slower === 0) return `As fast as ${when}, within the noise${end}`;
  const change = percent(Math.abs(mean - 1), 1);
  if (change === percent(0)) return `As fast as ${when} in the mean${end}`;
  return `${change} ${mean < 1 ? "faster" : "slower"} than ${when}${end}`;
}

function sentence(comparison: Comparison): string {
  const both = comparison.faster + comparison.slower + comparison.within_noise;
  if (both === 0) return "The two databases have no operation in common.";
  const mean = comparison.time_ratio_geomean;
  return (
    `Of ${count(both, "operation")} in both, ${comparison.faster} ${comparison.faster === 1 ? "is" : "are"} faster here and ${comparison.slower} ` +
    `slower by more than the noise; ${comparison.within_noise} did not change beyond it.` +
    (mean === null ? "" : ` The geometric mean of the times is ${ratio(mean)} that of there.`) +
    (comparison.only_here + comparison.only_there > 0
      ? ` ${comparison.only_here} are only here, ${comparison.only_there} only there.`
      : "")
  );
}

function differences(list: string[]): HTMLElement[] {
  if (list.length === 0) return [];
  const mixed = list.some((line) => / machine: /.test(line)) ? " One of them is simulated." : "";
  return [
    element("p", { class: "said" }, `The platforms differ.${mixed}`),
    element("ul", { class: "hint" }, ...list.map((line) => element("li", {}, line))),
  ];
}

export function comparisonSection(parent: HTMLElement, comparison: Comparison) {
  parent.hidden = false;
  const both = comparison.winners.filter((row) => row.relative_change !== null);
  const beyond = (row: ComparedWinner) => (row.change === "within_noise" ? 0 : 1);
  both.sort((a, b) => beyond(b) - beyond(a) || Math.abs(b.relative_change!) - Math.abs(a.relative_change!));
  const drawn = both.slice(0, mostBars);
  const figure = element("figure");
  parent.append(
    element("h2", { id: "comparison-title" }, `${comparison.here} compared with ${comparison.there}`),
    element("p", { class: "lead" }, headline(comparison)),
    element("p", { class: "said" }, sentence(comparison)),
    figure,
  );
  if (drawn.length > 0) {
    const drawing = () => option(drawn, isNarrow(figure));
    const chart = new Chart(figure, drawing, 100);
    chart.update(drawing, drawn.length * 22 + 44, `Bars of changes. ${sentence(comparison)}`);
    figure.append(
      element(
        "figcaption",
        {},
        "Change of the winner's time: blue is faster here, orange slower, grey within the noise. " +
          (drawn.length < both.length ? `The first ${drawn.length} of ${both.length}.` : ""),
      ),
    );
  }
  parent.append(...differences(comparison.platform_differences));
  const rows = comparison.winners.length - both.length;
  const details = element(
    "details",
    {},
    element(
      "summary",
      {},
      `All ${comparison.winners.length} operations${rows ? `, ${rows} in one database only` : ""}`,
    ),
  );
  details.append(
    plainTable(
      "Comparison",
      ["operation", "platform", "here", "there", "change", "noise", "beyond the noise"],
      [...both, ...comparison.winners.filter((row) => row.relative_change === null)].map((row) => [
        nameOf(row),
        platformOf(row),
        time(row.here_us),
        time(row.there_us),
        row.relative_change === null ? "–" : signedPercent(row.relative_change),
        row.noise_us === null ? "–" : `${percent(row.noise_us / (row.there_us || 1), 1)}`,
        words(row.change),
      ]),
    ),
  );
  parent.append(details);
}
