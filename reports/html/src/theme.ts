// Light or dark: as the system says, until the reader chooses. Colours are those of page.css.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosen: "light" | "dark" | null = null;
const listeners: (() => void)[] = [];

export const isDark = () => (chosen ? chosen === "dark" : dark.matches);

function apply() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const listener of listeners) listener();
}

/** Calls `listener` after each change. */
export function onThemeChange(listener: () => void) {
  listeners.push(listener);
}

export function startTheme(button: HTMLElement) {
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  onThemeChange(name);
  button.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    apply();
  });
  dark.addEventListener("change", apply);
  // Paper is white.
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    for (const listener of listeners) listener();
  });
  window.addEventListener("afterprint", apply);
  apply();
}

/** A colour of page.css: `color("gemm")` is the value of `--gemm`. */
export const color = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
