// The timeline of one operation: one after the other above overlapped, as the model predicts both.
import { axisStyle, Chart, lines, type Option, sliderStyle, tooltipStyle } from "./chart";
import type { Report, Run, Winner } from "./data";
import { asTable, element, plainTable } from "./dom";
import { ratio, time } from "./format";
import { fullName } from "./labels";
import type { Show } from "./main";
import { color } from "./theme";

interface Bar {
  lane: number;
  begin: number;
  end: number;
  kind: "gemm" | "gemm-2" | "exchange" | "exchange-2" | "exposed" | "ready" | "measured";
  label: string;
  hint: string[];
}

const lanes = ["one after the other\nGEMM", "collective", "overlapped\nGEMM", "collective "];

/** The bars of one run, in the lanes `first` (GEMM) and `first + 1` (collective). */
function barsOf(run: Run, op: string, first: number): Bar[] {
  const bars: Bar[] = [];
  const ready = op === "all_gather_gemm" ? [] : run.groups.map((group) => group[0]);
  for (const [begin, end] of run.gemm) {
    const cuts = [...ready.filter((cut) => cut > begin && cut < end), end];
    cuts.forEach((cut, i) => {
      const from = i === 0 ? begin : cuts[i - 1]!;
      const group = ready.findIndex((time) => time >= cut - 1e-9);
      const known = run.groups.length > 1 && group >= 0;
      bars.push({
        lane: first, begin: from, end: cut, kind: known && group % 2 ? "gemm-2" : "gemm", label: known ? String(group) : "GEMM",
        hint: [known ? `GEMM: tiles of group ${group}` : "GEMM", `${time(from)} to ${time(cut)}`],
      });
    });
  }
  run.groups.forEach(([readyAt, start, end, exposed], group) => {
    const hidden = Math.max(start, end - exposed);
    const label = run.groups.length === 1 ? "collective" : String(group);
    const hint = [run.groups.length === 1 ? "collective" : `group ${group}`, `ready ${time(readyAt)}`, `exchanged ${time(start)} to ${time(end)}`,
      `exposed ${time(exposed)}`];
    const inHidden = hidden - start > end - hidden;
    bars.push({ lane: first + 1, begin: start, end: hidden, kind: group % 2 ? "exchange-2" : "exchange", label: inHidden ? label : "", hint });
    bars.push({ lane: first + 1, begin: hidden, end, kind: "exposed", label: inHidden ? "" : label, hint });
    if (op !== "all_gather_gemm") bars.push({ lane: first, begin: readyAt, end: start, kind: "ready", label: "", hint: [] });
  });
  return bars.filter((bar) => bar.end > bar.begin || bar.kind === "ready");
}

function allBars(winner: Winner): Bar[] {
  if (!winner.timeline) return [];
  const measured = (lane: number, at: number | null): Bar[] =>
    at === null ? [] : [{ lane, begin: at, end: at, kind: "measured", label: `measured ${time(at)}`, hint: [] }];
  return [...barsOf(winner.timeline.sequential, winner.op, 0), ...barsOf(winner.timeline.winner, winner.op, 2),
    ...measured(0, winner.sequential_us), ...measured(2, winner.measured_us)];
}

/** Draws a bar, the line from ready to start, or the mark of the measured time. */
function drawn(bars: Bar[], params: { dataIndex: number; coordSys: { x: number; width: number } },
  api: { coord(at: number[]): number[]; size(of: number[]): number[] }) {
  const bar = bars[params.dataIndex]!;
  const [left, middle] = api.coord([bar.begin, bar.lane]) as [number, number];
  const right = api.coord([bar.end, bar.lane])[0]!;
  const row = api.size([0, 1])[1]!;
  const height = row * 0.62;
  const edge = params.coordSys.x + params.coordSys.width;
  if (bar.kind === "ready") {
    return {
      type: "line", silent: true, shape: { x1: left, y1: middle + height / 2, x2: right, y2: middle + row - height / 2 },
      style: { stroke: color("soft"), lineWidth: 1 },
    };
  }
  if (bar.kind === "measured") {
    const beyond = left > edge - 120;
    return {
      type: "group", silent: true, children: [
        { type: "line", shape: { x1: left, y1: middle - row / 2, x2: left, y2: middle + row * 1.42 }, style: { stroke: color("text"), lineWidth: 1.5, lineDash: [4, 3] } },
        {
          type: "text", x: beyond ? left - 5 : left + 5, y: middle - row / 2 + 1,
          style: { text: bar.label, fill: color("text"), fontSize: 11, align: beyond ? "right" : "left", backgroundColor: color("panel"), padding: [1, 2] },
        },
      ],
    };
  }
  const width = Math.max(right - left, 1);
  const room = Math.min(right, edge) - Math.max(left, params.coordSys.x);
  const fits = bar.label.length * 7 + 6 < room;
  return {
    type: "rect", shape: { x: left, y: middle - height / 2, width, height, r: 2 },
    style: { fill: color(bar.kind), stroke: color("panel"), lineWidth: width > 3 ? 1 : 0 },
    textContent: fits ? { style: { text: bar.label, fill: color(`on-${bar.kind}`), fontSize: 11 } } : undefined,
    textConfig: { position: "inside" },
  };
}

/** The next number above `end` of the form 1, 1.25, 1.5, 2, … times a power of ten, so that the axis ends with a round label. */
function niceAbove(end: number): number {
  const power = 10 ** Math.floor(Math.log10(end));
  return power * ([1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= end * 1.005) ?? 12.5);
}

function option(winner: Winner, bars: Bar[]): Option {
  const end = Math.max(...bars.map((bar) => bar.end), 1);
  return {
    grid: { left: 8, right: 24, top: 14, bottom: 78, containLabel: true },
    xAxis: { type: "value", min: 0, max: niceAbove(end), ...axisStyle(),
      axisLabel: { color: color("soft"), formatter: (value: number) => time(value).replace(".0", ""), hideOverlap: true },
    },
    yAxis: {
      type: "category", inverse: true, data: lanes, ...axisStyle(), axisTick: { show: false }, splitLine: { show: false },
      axisLabel: { color: color("text"), lineHeight: 16 },
    },
    tooltip: {
      ...tooltipStyle(), trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => lines(...bars[dataIndex]!.hint),
    },
    dataZoom: [
      { type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl" },
      { ...sliderStyle(), filterMode: "none", bottom: 12, height: 26, labelFormatter: (value: number) => time(value) },
    ],
    series: [{
      type: "custom", clip: true, name: fullName(winner), encode: { x: [0, 1], y: 2 },
      renderItem: (params: never, api: never) => drawn(bars, params, api),
      data: bars.map((bar) => [bar.begin, bar.end, bar.lane]),
    }],
  };
}

function groupTable(winner: Winner): HTMLElement {
  const rows = (name: string, run: Run) => run.groups.map((group, i) => [name, String(i), ...group.map((at) => at.toFixed(1))]);
  return plainTable("Groups of the timeline", ["run", "group", "ready µs", "start µs", "end µs", "exposed µs"],
    winner.timeline ? [...rows("one after the other", winner.timeline.sequential), ...rows("overlapped", winner.timeline.winner)] : []);
}

const exposed = (run: Run) => run.groups.reduce((sum, group) => sum + group[3], 0);

function caption(winner: Winner): string {
  if (!winner.timeline) return "The model has no prediction for this operation, so there is no timeline.";
  return `${ratio(winner.speedup)}: ${time(winner.measured_us)} measured instead of ${time(winner.sequential_us)}. ` +
    `Communication that nothing hides: ${time(exposed(winner.timeline.winner))} instead of ${time(exposed(winner.timeline.sequential))}, as the model predicts.`;
}

function legend() {
  const key = (kind: string, text: string) => element("span", { class: "key" }, element("i", { class: kind }), text);
  return element("span", { class: "keys" }, key("gemm", "GEMM, group by group"), key("exchange", "exchanged beside the GEMM"),
    key("exposed", "exposed communication"), key("link", "ready to start"), key("dash", "measured"));
}

export function timelineSection(parent: HTMLElement, report: Report): { show: Show; select: (winner: Winner) => void } {
  const choice = element("select", { "aria-label": "Operation of the timeline" });
  const button = (text: string, label: string) => element("button", { type: "button", "aria-label": label, title: label }, text);
  const [nearer, further, whole] = [button("+", "Zoom in"), button("−", "Zoom out"), button("Whole", "Show the whole timeline")];
  const [left, right] = [button("←", "Move to the left"), button("→", "Move to the right")];
  const said = element("p", { class: "said" });
  const config = element("p", { class: "config" });
  const figure = element("figure", { tabindex: "0", "aria-label": "Timeline; the keys +, −, 0 and the arrows zoom and move" });
  parent.append(element("h2", { id: "timeline-title" }, "Timeline"),
    element("p", { class: "hint" }, "What the GPUs do, as the model predicts it, group by group. Drag the bar below the figure, or use + and −, to zoom."),
    element("div", { class: "filter" }, choice, nearer, further, left, right, whole), said, figure);

  let winner: Winner | undefined;
  let bars: Bar[] = [];
  const chart = new Chart(figure, () => (winner ? option(winner, bars) : {}), 330);
  figure.append(element("figcaption", {}, legend()), config);
  let table: HTMLElement | null = null;
  let range: [number, number] = [0, 100];
  const zoom = (start: number, end: number) => {
    const width = Math.min(100, Math.max(2, end - start));
    const from = Math.min(100 - width, Math.max(0, start));
    range = [from, from + width];
    chart.zoom(...range);
  };
  const scale = (factor: number) => {
    const [from, to] = range;
    const half = ((to - from) * factor) / 2;
    zoom((from + to) / 2 - half, (from + to) / 2 + half);
  };
  const move = (part: number) => {
    const by = (range[1] - range[0]) * part;
    zoom(range[0] + by, range[1] + by);
  };
  const actions: Record<string, () => void> = {
    "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2), "0": () => zoom(0, 100), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25),
  };
  nearer.onclick = actions["+"]!;
  further.onclick = actions["-"]!;
  whole.onclick = actions["0"]!;
  left.onclick = actions.ArrowLeft!;
  right.onclick = actions.ArrowRight!;
  figure.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  const draw = (shown: Winner) => {
    winner = shown;
    bars = allBars(shown);
    range = [0, 100];
    choice.value = String(shown.id);
    said.textContent = caption(shown);
    config.textContent = shown.config;
    figure.hidden = shown.timeline === null;
    chart.update(() => option(shown, bars), 330, `Timeline of ${fullName(shown)}. ${caption(shown)}`);
    table?.remove();
    table = asTable(() => groupTable(shown));
    figure.append(table);
  };
  choice.addEventListener("change", () => draw(report.winners[Number(choice.value)]!));

  return {
    show: (platform) => {
      const winners = report.winners.filter((each) => each.platform === platform);
      parent.hidden = winners.length === 0;
      choice.replaceChildren(...winners.map((each) => element("option", { value: String(each.id) }, fullName(each))));
      // The operation that gains most shows best what overlap is.
      const first = [...winners].sort((a, b) => Number(b.timeline !== null) - Number(a.timeline !== null) || (b.speedup ?? 0) - (a.speedup ?? 0))[0];
      if (first) draw(first);
    },
    select: (shown) => {
      draw(shown);
      parent.scrollIntoView({ behavior: "smooth", block: "start" });
      choice.focus({ preventScroll: true });
    },
  };
}
