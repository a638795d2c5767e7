// The rows that a reader sees, as a file.
import type { Winner } from "./data";

const fields = [
  "model", "product", "parallelism", "tokens", "op", "m", "n", "k", "dtype", "ranks", "launch", "strategy", "speedup",
  "speedup_p10", "speedup_p90", "cold", "beside",
  "measured_us", "p10_us", "p90_us", "sequential_us", "predicted_us", "hidden", "config",
] as const satisfies readonly (keyof Winner)[]; // prettier-ignore

/** A field as RFC 4180 quotes it. */
function quoted(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(winners: Winner[]): string {
  const rows = winners.map((winner) => fields.map((field) => quoted(winner[field])).join(","));
  return [fields.join(","), ...rows, ""].join("\r\n");
}

/** Offers a text as a file to keep. */
export function keep(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
