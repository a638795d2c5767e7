// The labels and the full name of a winner.
import type { Winner } from "./data";
import { opName, shortOpName, tokens } from "./format";

/** `4096×8192×1024`: m, n, k. */
export const shape = (winner: { m: number; n: number; k: number }) => `${winner.m}×${winner.n}×${winner.k}`;

/** The tokens of a pass; without a model, the rows of the product. */
export const tokensOf = (winner: Winner) => winner.tokens ?? winner.m;

/** `down, tensor-parallel`, or where no model is known the op and the widths. */
export function operation(winner: Winner): string {
  if (winner.product === null) return `${opName(winner.op)}, n ${winner.n}, k ${winner.k}`;
  return `${winner.product} · ${opName(winner.op)}`;
}

/** A label in a few letters; without a model both widths, because two operations may share one. */
export function shortOperation(winner: Winner): string {
  return `${winner.product ?? `${winner.n}×${winner.k}`} ${shortOpName(winner.op)}`;
}

/** One line that names the winner among all. */
export function fullName(winner: Winner): string {
  const launch = winner.launch === "graph" ? "" : `, ${winner.launch} launch`;
  if (winner.product === null)
    return `${opName(winner.op)} ${shape(winner)}, ${winner.dtype}, ${winner.ranks} GPUs${launch}`;
  return `${winner.model} ${winner.product}, ${tokens(tokensOf(winner))} tokens: ${opName(winner.op)}${launch}`;
}

/** The speedup if only the longer of GEMM and collective took time; null where they are not known. */
export function idealSpeedup(winner: Winner): number | null {
  const ideal = Math.max(winner.gemm_us, winner.collective_us);
  return winner.gemm_us > 0 && winner.collective_us > 0 ? winner.sequential_us / ideal : null;
}
