// An operation is a product of a model, or a shape, at any number of tokens.
import type { Winner } from "./data";
import { opName, shortOpName } from "./format";
import { tokensOf } from "./labels";

export interface Operation {
  /** Among the operations of the list, no other has this name. */
  name: string;
  /** The name in a few letters, for narrow figures. */
  short: string;
  winners: Winner[]; // by their tokens
}

/** Parts of a name, from the one that says most to a reader to the one that says least. */
const parts: { value: (winner: Winner) => string; short: (winner: Winner) => string }[] = [
  { value: ({ model }) => model ?? "", short: ({ model }) => model ?? "" },
  { value: ({ parallelism }) => layoutName(parallelism), short: ({ parallelism }) => parallelism ?? "" },
  { value: ({ op }) => opName(op), short: ({ op }) => shortOpName(op) },
  { value: ({ n, k }) => `n ${n}, k ${k}`, short: ({ n, k }) => `${n}×${k}` },
  { value: ({ ranks }) => `${ranks} GPUs`, short: ({ ranks }) => `${ranks} GPUs` },
  { value: ({ dtype }) => dtype, short: ({ dtype }) => dtype },
  { value: ({ launch }) => `${launch} launch`, short: ({ launch }) => launch },
];

function layoutName(parallelism: string | null): string {
  if (parallelism === null) return "";
  return parallelism === "sp" ? "sequence-parallel" : "tensor-parallel";
}

/** The parts that tell the given winners apart; none that the parts before it imply, as the layout the op. */
function telling(winners: Winner[]): typeof parts {
  const kinds = (some: typeof parts) =>
    new Set(winners.map((winner) => JSON.stringify(some.map((part) => part.value(winner))))).size;
  const chosen: typeof parts = [];
  for (const part of parts) if (kinds([...chosen, part]) > kinds(chosen)) chosen.push(part);
  return chosen;
}

/** Winners that differ in the tokens only, each list with the parts by which its name differs from others'. */
export function operations(winners: Winner[]): Operation[] {
  const lists = new Map<string, Winner[]>();
  for (const winner of winners) {
    const key = JSON.stringify([winner.product, ...parts.map((part) => part.value(winner))]);
    const list = lists.get(key);
    if (list) list.push(winner);
    else lists.set(key, [winner]);
  }
  const namesakes = new Map<string, Winner[]>(); // one winner of each operation
  const plain = (winner: Winner) => winner.product ?? opName(winner.op);
  for (const [first] of lists.values())
    namesakes.set(plain(first!), [...(namesakes.get(plain(first!)) ?? []), first!]);
  const distinct = new Map([...namesakes].map(([name, all]) => [name, telling(all)]));
  return [...lists.values()].map((list) => {
    const first = list[0]!;
    const differing = distinct.get(plain(first))!;
    const texts = differing.map((part) => part.value(first)).filter(Boolean);
    const shorts = differing.map((part) => part.short(first)).filter(Boolean);
    return {
      name: texts.length > 0 ? `${plain(first)} (${texts.join(", ")})` : plain(first),
      short: [first.product ?? shortOpName(first.op), ...shorts].join(" "),
      winners: [...list].sort((a, b) => tokensOf(a) - tokensOf(b)),
    };
  });
}
