// The table of winners. A click on a heading sorts, a button in each row shows the timeline.
import type { Winner } from "./data";
import { element } from "./dom";
import { hidden, opName, ratio, time, tokens, words } from "./format";
import { fullName, idealSpeedup, shape, tokensOf } from "./labels";

interface Column {
  title: string;
  value: (winner: Winner) => string | number | null; // to sort by
  text: (winner: Winner) => string;
  number?: boolean;
}

const column = (
  title: string,
  value: Column["value"],
  text: (winner: Winner) => string = (winner) => String(value(winner) ?? "–"),
): Column => ({ title, value, text });
const number = (
  title: string,
  value: (winner: Winner) => number | null,
  text: (winner: Winner) => string,
): Column => ({ title, value, text, number: true });

const columns: Column[] = [
  column("Product", (winner) => (winner.product ? `${winner.model} ${winner.product}` : null)),
  number("Tokens", tokensOf, (winner) => tokens(tokensOf(winner))),
  column(
    "Operation",
    (winner) => winner.op,
    (winner) => opName(winner.op),
  ),
  number(
    "Speedup",
    (winner) => winner.speedup,
    (winner) => ratio(winner.speedup),
  ),
  number(
    "Cold",
    (winner) => winner.cold,
    (winner) => ratio(winner.cold),
  ),
  number(
    "Beside",
    (winner) => winner.beside,
    (winner) => ratio(winner.beside),
  ),
  number("Ideal", idealSpeedup, (winner) => ratio(idealSpeedup(winner))),
  number(
    "Hidden",
    (winner) => winner.hidden,
    (winner) => hidden(winner.hidden),
  ),
  number(
    "Time",
    (winner) => winner.measured_us,
    (winner) => time(winner.measured_us),
  ),
  number(
    "Sequential",
    (winner) => winner.sequential_us,
    (winner) => time(winner.sequential_us),
  ),
  number(
    "Per pass",
    (winner) => winner.times,
    (winner) => (winner.times === null ? "–" : `×${winner.times}`),
  ),
  column(
    "Strategy",
    (winner) => winner.strategy,
    (winner) => words(winner.strategy),
  ),
  column("m×n×k", (winner) => winner.m * winner.n * winner.k, shape),
  column("Groups", (winner) => (winner.partition === "-" ? null : winner.partition)),
];

const mostRows = 200; // at once

function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1; // nothing known: last
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Returns a function that shows the given winners. */
export function winnersTable(
  parent: HTMLElement,
  select: (winner: Winner) => void,
): (winners: Winner[]) => void {
  let winners: Winner[] = [];
  let order: { column: Column; up: boolean } | null = null;
  let most = mostRows;
  const head = element("tr");
  const body = element("tbody");
  const more = element("button", { type: "button", class: "more" }, "Show all rows");
  parent.append(
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of the operations" },
      element("table", { class: "winners" }, element("thead", {}, head), body),
    ),
    more,
  );

  const row = (winner: Winner, used: Column[]) => {
    const made = element(
      "tr",
      { "data-winner": String(winner.id) },
      element(
        "td",
        { class: "show" },
        element(
          "button",
          { type: "button", "aria-label": `Show the timeline of ${fullName(winner)}`, title: winner.config },
          "Show",
        ),
      ),
      ...used.map((each) => element("td", each.number ? { class: "number" } : {}, each.text(winner))),
    );
    return made;
  };
  const draw = () => {
    // A column that says nothing of any winner is left out.
    const used = columns.filter((each) => winners.some((winner) => each.value(winner) !== null));
    const sorted = order
      ? [...winners].sort((a, b) => {
          const [x, y] = [order!.column.value(a), order!.column.value(b)];
          return x === null || y === null || order!.up ? compare(x, y) : compare(y, x);
        })
      : winners;
    head.replaceChildren(
      element("th", { scope: "col", class: "show" }, "Timeline"),
      ...used.map((each) => {
        const state = order?.column === each ? (order.up ? "ascending" : "descending") : "none";
        const button = element("button", { type: "button" }, each.title);
        button.addEventListener("click", () => {
          order = { column: each, up: order?.column === each ? !order.up : !each.number };
          draw();
          head.querySelectorAll("button")[used.indexOf(each)]?.focus();
        });
        return element(
          "th",
          { scope: "col", "aria-sort": state, class: each.number ? "number" : "" },
          button,
        );
      }),
    );
    body.replaceChildren(...sorted.slice(0, most).map((winner) => row(winner, used)));
    more.hidden = sorted.length <= most;
    more.textContent = `Show all ${sorted.length} rows`;
  };
  body.addEventListener("click", (event) => {
    const clicked = (event.target as HTMLElement).closest("tr");
    const winner = winners.find((each) => String(each.id) === clicked?.dataset.winner);
    if (winner && !window.getSelection()?.toString()) select(winner);
  });
  more.addEventListener("click", () => {
    most = Infinity;
    draw();
  });
  window.addEventListener("beforeprint", () => {
    if (winners.length <= 1000) more.click();
  });
  return (seen) => {
    winners = seen;
    most = mostRows;
    draw();
  };
}
