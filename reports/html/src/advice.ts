// From how many tokens on overlap is worth it, in words.
import type { Winner } from "./data";
import { count, tokens } from "./format";
import { tokensOf } from "./labels";
import { type Operation, operations } from "./operations";

/** Less is within what two measurements of one config differ by. */
const sureGain = 1.02;
const mostNames = 12; // more are counted instead

/** The least tokens from which on every winner is surely faster; infinite where there are none. */
function threshold(winners: Winner[]): number {
  const fewer = [...winners].sort((a, b) => tokensOf(b) - tokensOf(a));
  const unsure = fewer.findIndex((winner) => (winner.speedup ?? 0) < sureGain);
  const sure = unsure < 0 ? fewer : fewer.slice(0, unsure);
  return sure.length === 0 ? Infinity : tokensOf(sure[sure.length - 1]!);
}

/**
 * The product alone where all that bear its name have one threshold; with its layout, as in
 * "down (sequence-parallel)", where they have several.
 */
function namesAt(from: number, all: { operation: Operation; from: number }[]): string[] {
  const bare = (operation: Operation) => operation.name.replace(/ \(.*\)$/, "");
  const names = all
    .filter((each) => each.from === from)
    .map(({ operation }) => {
      const name = bare(operation);
      const alike = all.filter((each) => bare(each.operation) === name);
      return alike.every((each) => each.from === from) ? name : operation.name;
    });
  return [...new Set(names)].sort();
}

/** `a`, `a and b`, `a, b and c`. */
const listed = (names: string[]) =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}` : (names[0] ?? "");

/** "Use overlap from 1k tokens on for down and o; from 4k for qkv; not for gate_up." */
export function advice(winners: Winner[]): string {
  const all = operations(winners).map((operation) => ({ operation, from: threshold(operation.winners) }));
  const steps = [...new Set(all.map(({ from }) => from))].sort((a, b) => a - b);
  const names = steps.map((from) => namesAt(from, all));
  const named = names.reduce((sum, list) => sum + list.length, 0) <= mostNames;
  const texts = steps.map((from, index) => {
    const text = named
      ? listed(names[index]!)
      : count(all.filter((each) => each.from === from).length, "operation");
    if (from === Infinity) return `not for ${text}`;
    return `from ${tokens(from)}${index === 0 ? " tokens on" : ""} for ${text}`;
  });
  return texts.length === 0 ? "" : `Use overlap ${texts.join("; ")}.`;
}
