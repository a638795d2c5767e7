// The winners: a filter, the figures of their speedups, and their table, which show the same rows.
import { choose, chosen } from "./address";
import { csv, keep } from "./csv";
import { curvesFigure } from "./curves";
import type { Report, Show, Winner } from "./data";
import { element } from "./dom";
import { opName, tokens, words } from "./format";
import { heatMapFigure } from "./heat_map";
import { fullName, tokensOf } from "./labels";
import { speedupFigure } from "./speedups";
import { winnersTable } from "./table";

const mostBars = 60; // more rows are a heat map

const distinct = (values: string[]) => [...new Set(values)];

/** The operations together, each by its tokens. */
function inOrder(winners: Winner[]): Winner[] {
  const key = (winner: Winner) =>
    [winner.model ?? "", winner.parallelism ?? "", winner.op, winner.product ?? "", winner.launch].join();
  const keys = new Map(winners.map((winner) => [winner, key(winner)]));
  const order = new Intl.Collator("en");
  return [...winners].sort(
    (a, b) =>
      order.compare(keys.get(a)!, keys.get(b)!) ||
      a.n - b.n ||
      a.k - b.k ||
      a.ranks - b.ranks ||
      tokensOf(a) - tokensOf(b),
  );
}

function choice(label: string, all: string): HTMLSelectElement {
  return element("select", { "aria-label": label, title: label }, element("option", { value: "" }, all));
}

function fill(select: HTMLSelectElement, values: string[], name: (value: string) => string) {
  select.replaceChildren(
    select.options[0]!,
    ...distinct(values).map((value) => element("option", { value }, name(value))),
  );
  select.value = "";
  select.hidden = select.options.length < 3;
}

/** `select` is called with a winner whose timeline the reader asks for. */
export function resultsSection(parent: HTMLElement, report: Report, select: (winner: Winner) => void): Show {
  const search = element("input", {
    type: "search",
    placeholder: "Filter: model, product, shape, config …",
    "aria-label": "Filter the operations",
  });
  const op = choice("Operation", "All operations");
  const size = choice("Tokens", "All tokens");
  const strategy = choice("Strategy", "All strategies");
  const status = element("p", { class: "status", role: "status" });
  const save = element("button", { type: "button" }, "CSV");
  save.title = "Keep the rows that are shown as a file";
  const form = element("div", { class: "filter", role: "search" }, search, op, size, strategy, save, status);
  const bars = element("figure", { class: "bars" });
  const map = element("figure", { class: "map" });
  const curves = element("figure", { class: "curves" });
  const hint = element("p", { class: "hint" });
  parent.append(
    element("h2", { id: "results-title" }, "Speedup of each operation"),
    hint,
    form,
    bars,
    map,
    curves,
  );
  const drawBars = speedupFigure(bars, select);
  const drawMap = heatMapFigure(map, select);
  const drawCurves = curvesFigure(curves);
  const table = winnersTable(parent, select);

  let winners: Winner[] = [];
  let shown: Winner[] = [];
  save.addEventListener("click", () => keep("winners.csv", csv(shown)));
  const apply = () => {
    const parts = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const seen = winners.filter((winner) => {
      const text =
        `${fullName(winner)} ${winner.op} ${winner.m}×${winner.n}×${winner.k} ${winner.config} ${winner.parallelism ?? ""}`.toLowerCase();
      return (
        parts.every((part) => text.includes(part)) &&
        (!op.value || winner.op === op.value) &&
        (!size.value || String(tokensOf(winner)) === size.value) &&
        (!strategy.value || winner.strategy === strategy.value)
      );
    });
    status.textContent =
      seen.length === winners.length
        ? `${winners.length} operations`
        : `${seen.length} of ${winners.length} operations`;
    shown = seen;
    bars.hidden = seen.length > mostBars;
    map.hidden = !bars.hidden;
    hint.textContent = bars.hidden
      ? "A click on a cell or a row shows its timeline."
      : "A bar begins at 1×, the time of one after the other. The mark is the ideal: the time of the longer of GEMM and collective alone. " +
        "A click on a bar or a row shows its timeline.";
    if (bars.hidden) drawMap(seen);
    else drawBars(seen);
    drawCurves(seen);
    table(seen);
  };
  const changed = () => {
    choose({ q: search.value, op: op.value, tokens: size.value, strategy: strategy.value });
    apply();
  };
  let opened = false; // before that, the address says what to show
  for (const input of [search, op, size, strategy]) input.addEventListener("input", changed);

  return (platform) => {
    winners = inOrder(report.winners.filter((winner) => winner.platform === platform));
    search.value = "";
    fill(
      op,
      winners.map((winner) => winner.op),
      opName,
    );
    fill(
      size,
      winners
        .map(tokensOf)
        .sort((a, b) => a - b)
        .map(String),
      (text) => `${tokens(Number(text))} tokens`,
    );
    fill(
      strategy,
      winners.map((winner) => winner.strategy),
      words,
    );
    parent.hidden = winners.length === 0;
    if (opened) {
      choose({ q: "", op: "", tokens: "", strategy: "" });
    } else {
      search.value = chosen("q");
      for (const [select, name] of [
        [op, "op"],
        [size, "tokens"],
        [strategy, "strategy"],
      ] as const) {
        if ([...select.options].some((option) => option.value === chosen(name))) select.value = chosen(name);
      }
      opened = true;
    }
    apply();
  };
}
