// From how many tokens on overlap is worth it, in words.
import type { Winner } from "./data";
import { opName, tokens } from "./format";
import { tokensOf } from "./labels";

/** Less is within what two measurements of one config differ by. */
const sureGain = 1.02;

/** Winners that differ in the tokens only. */
function alike(winners: Winner[]): Winner[][] {
  const groups = new Map<string, Winner[]>();
  for (const winner of winners) {
    const { model, product, parallelism, op, n, k, dtype, ranks, launch } = winner;
    const key = [model, product, parallelism, op, n, k, dtype, ranks, launch].join();
    groups.set(key, [...(groups.get(key) ?? []), winner]);
  }
  return [...groups.values()];
}

/** The least tokens from which on every winner is surely faster; null where there are none. */
export function threshold(winners: Winner[]): number | null {
  const sorted = [...winners].sort((a, b) => tokensOf(b) - tokensOf(a));
  const unsure = sorted.findIndex((winner) => (winner.speedup ?? 0) < sureGain);
  const sure = unsure < 0 ? sorted : sorted.slice(0, unsure);
  return sure.length === 0 ? null : tokensOf(sure[sure.length - 1]!);
}

/** "Use overlap from 1k tokens on for down and o; from 4k for qkv; not for gate_up." */
export function advice(winners: Winner[]): string {
  const names = new Map<number, Set<string>>();
  for (const group of alike(winners)) {
    const first = group[0]!;
    const from = threshold(group) ?? Infinity;
    names.set(from, (names.get(from) ?? new Set()).add(first.product ?? opName(first.op)));
  }
  const parts = [...names]
    .sort(([a], [b]) => a - b)
    .map(([from, products], index) => {
      const list = [...products].sort();
      const text = list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list[list.length - 1]}` : list[0];
      if (from === Infinity) return `not for ${text}`;
      return `from ${tokens(from)}${index === 0 ? " tokens on" : ""} for ${text}`;
    });
  return parts.length === 0 ? "" : `Use overlap ${parts.join("; ")}.`;
}
