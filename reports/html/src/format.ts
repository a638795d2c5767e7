// Numbers and names as a reader wants to see them.

const formats = new Map<string, Intl.NumberFormat>(); // to make one takes longer than to write a number

function digits(most: number, least = 0): Intl.NumberFormat {
  const key = `${most} ${least}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat("en-US", { maximumFractionDigits: most, minimumFractionDigits: least });
    formats.set(key, format);
  }
  return format;
}
const whole = digits(0);
const none = "–";

export function time(us: number | null): string {
  if (us === null) return none;
  if (us >= 10_000) return `${digits(2).format(us / 1000)} ms`;
  return `${us >= 1000 ? whole.format(us) : digits(1, 1).format(us)} µs`;
}

export const ratio = (value: number | null) => (value === null ? none : `${digits(2, 2).format(value)}×`);

export const percent = (fraction: number | null, most = 0) =>
  fraction === null ? none : `${digits(most).format(100 * fraction)} %`;

/** The hidden fraction of a winner; it is at most 1. */
export const hidden = (fraction: number | null) =>
  fraction !== null && fraction >= 1 ? "at the ideal" : percent(fraction);

export function signedPercent(fraction: number): string {
  const text = percent(Math.abs(fraction), 1);
  return text === percent(0, 1) ? text : `${fraction > 0 ? "+" : "−"}${text}`;
}

export const rate = (gbPerS: number) => `${digits(gbPerS < 10 ? 1 : 0).format(gbPerS)} GB/s`;

/** `16k`, `1,000`: thousands of 1024 as models count tokens. */
export const tokens = (count: number) => (count % 1024 === 0 ? `${count / 1024}k` : whole.format(count));

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) {
    count /= 1024;
    ++unit;
  }
  return `${digits(1).format(count)} ${units[unit]}`;
}

export const count = (number: number, one: string, many = `${one}s`) =>
  `${whole.format(number)} ${number === 1 ? one : many}`;

/** `22 November 2026` of an ISO 8601 time. */
export const day = (time: string) =>
  new Date(time).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });

const opNames: Record<string, string> = {
  gemm_all_reduce: "GEMM + all-reduce",
  gemm_reduce_scatter: "GEMM + reduce-scatter",
  gemm_all_to_all: "GEMM + all-to-all",
  all_gather_gemm: "all-gather + GEMM",
  all_to_all_gemm: "all-to-all + GEMM",
};
const shortOpNames: Record<string, string> = {
  gemm_all_reduce: "AR",
  gemm_reduce_scatter: "RS",
  gemm_all_to_all: "A2A",
  all_gather_gemm: "AG",
  all_to_all_gemm: "A2A first",
};
/** Whether the collective of an op comes before its GEMM: its name has the two in their order. */
export const exchangesFirst = (op: string) => op.endsWith("_gemm");
export const shortOpName = (op: string) => shortOpNames[op] ?? op;
export const opName = (op: string) => opNames[op] ?? op;

/** `all-reduce` of `all_reduce`, `within noise` of `within_noise`. */
export const words = (name: string) =>
  name.replaceAll("_", name.startsWith("all_") || name === "reduce_scatter" ? "-" : " ");
