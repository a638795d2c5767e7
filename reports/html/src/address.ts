// The reader's choices in the address of the page, so that a link shows what its sender saw.

/** The choice of that name; empty where the address has none. */
export const chosen = (name: string): string => new URLSearchParams(location.hash.slice(1)).get(name) ?? "";

/** Writes choices into the address; empty ones leave it. */
export function choose(choices: Record<string, string>): void {
  const all = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(choices)) {
    if (value) all.set(name, value);
    else all.delete(name);
  }
  const text = all.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}
