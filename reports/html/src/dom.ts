// Small helpers to make elements. Texts are never parsed as HTML.

type Child = Node | string | null | false;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  for (const child of children) if (child !== null && child !== false) made.append(child);
  return made;
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** A table with a header row; numbers are aligned to the right. */
export function plainTable(caption: string, columns: string[], rows: (string | number)[][]): HTMLElement {
  const cell = (value: string | number) =>
    element(
      "td",
      typeof value === "number" || /^[+−–]?[\d.,]+(\s?[%×µA-Za-z/]+)?$/.test(value)
        ? { class: "number" }
        : {},
      String(value),
    );
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name))),
      ),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell)))),
    ),
  );
}

/** A part that a reader can open, and that is made each time that it is opened. */
export function onOpening(summary: string, kind: string, make: () => HTMLElement): HTMLDetailsElement {
  const details = element("details", { class: kind }, element("summary", {}, summary));
  details.addEventListener("toggle", () => {
    details.replaceChildren(details.children[0]!, ...(details.open ? [make()] : []));
  });
  return details;
}

/** A chart's numbers as a table. */
export const asTable = (make: () => HTMLElement) => onOpening("The figure as a table", "numbers", make);
