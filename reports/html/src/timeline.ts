// The timeline of one operation: one after the other above overlapped, as the model predicts both.
import { Chart } from "./chart";
import type { Report, Run, Show, Winner } from "./data";
import { asTable, element, plainTable } from "./dom";
import { ratio, time } from "./format";
import { fullName } from "./labels";
import { allBars, type Bar } from "./timeline_bars";
import { timelineOption } from "./timeline_figure";

function groupTable(winner: Winner): HTMLElement {
  const rows = (name: string, run: Run) =>
    run.groups.map((group, i) => [name, String(i), ...group.map((at) => at.toFixed(1))]);
  return plainTable(
    "Groups of the timeline",
    ["run", "group", "ready µs", "start µs", "end µs", "exposed µs"],
    winner.timeline
      ? [
          ...rows("one after the other", winner.timeline.sequential),
          ...rows("overlapped", winner.timeline.winner),
        ]
      : [],
  );
}

const exposed = (run: Run) => run.groups.reduce((sum, group) => sum + group[3], 0);

function caption(winner: Winner): string {
  if (!winner.timeline) return "The model has no prediction for this operation, so there is no timeline.";
  return (
    `${ratio(winner.speedup)}: ${time(winner.measured_us)} measured instead of ${time(winner.sequential_us)}. ` +
    `Communication that nothing hides: ${time(exposed(winner.timeline.winner))} instead of ${time(exposed(winner.timeline.sequential))}, as the model predicts.`
  );
}

function legend() {
  const key = (kind: string, text: string) =>
    element("span", { class: "key" }, element("i", { class: kind }), text);
  return element(
    "span",
    { class: "keys" },
    key("gemm", "GEMM, group by group"),
    key("exchange", "exchanged beside the GEMM"),
    key("exposed", "exposed communication"),
    key("link", "ready to start"),
    key("dash", "measured"),
  );
}

export function timelineSection(
  parent: HTMLElement,
  report: Report,
): { show: Show; select: (winner: Winner) => void } {
  const choice = element("select", { "aria-label": "Operation of the timeline" });
  const button = (text: string, label: string) =>
    element("button", { type: "button", "aria-label": label, title: label }, text);
  const [nearer, further, whole] = [
    button("+", "Zoom in"),
    button("−", "Zoom out"),
    button("Whole", "Show the whole timeline"),
  ];
  const [left, right] = [button("←", "Move to the left"), button("→", "Move to the right")];
  const said = element("p", { class: "said" });
  const config = element("p", { class: "config" });
  const figure = element("figure", {
    tabindex: "0",
    "aria-label": "Timeline; the keys +, −, 0 and the arrows zoom and move",
  });
  parent.append(
    element("h2", { id: "timeline-title" }, "Timeline"),
    element(
      "p",
      { class: "hint" },
      "What the GPUs do, as the model predicts it, group by group. Drag the bar below the figure, or use + and −, to zoom.",
    ),
    element("div", { class: "filter" }, choice, nearer, further, left, right, whole),
    said,
    figure,
  );

  let winner: Winner | undefined;
  let bars: Bar[] = [];
  const chart = new Chart(figure, () => (winner ? timelineOption(winner, bars) : {}), 330);
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
    "+": () => scale(0.5),
    "=": () => scale(0.5),
    "-": () => scale(2),
    "0": () => zoom(0, 100),
    ArrowLeft: () => move(-0.25),
    ArrowRight: () => move(0.25),
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
    chart.update(() => timelineOption(shown, bars), 330, `Timeline of ${fullName(shown)}. ${caption(shown)}`);
    table?.remove();
    table = asTable(() => groupTable(shown));
    figure.append(table);
  };
  choice.addEventListener("change", () => draw(report.winners[Number(choice.value)]!));

  return {
    show: (platform) => {
      const winners = report.winners.filter((each) => each.platform === platform);
      parent.hidden = winners.length === 0;
      choice.replaceChildren(
        ...winners.map((each) => element("option", { value: String(each.id) }, fullName(each))),
      );
      // The operation that gains most shows best what overlap is.
      const first = [...winners].sort(
        (a, b) =>
          Number(b.timeline !== null) - Number(a.timeline !== null) || (b.speedup ?? 0) - (a.speedup ?? 0),
      )[0];
      if (first) draw(first);
    },
    select: (shown) => {
      draw(shown);
      parent.scrollIntoView({ behavior: "smooth", block: "start" });
      choice.focus({ preventScroll: true });
    },
  };
}
