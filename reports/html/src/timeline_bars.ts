// The bars of a timeline, from the predicted runs of a winner.
import type { Run, Winner } from "./data";
import { exchangesFirst, time } from "./format";

export interface Bar {
  lane: number;
  begin: number;
  end: number;
  kind: "gemm" | "gemm-2" | "exchange" | "exchange-2" | "exposed" | "ready" | "measured";
  label: string;
  hint: string[];
}

/** The bars of one run, in the lanes `first` (GEMM) and `first + 1` (collective). */
function barsOf(run: Run, op: string, first: number): Bar[] {
  const bars: Bar[] = [];
  const ready = exchangesFirst(op) ? [] : run.groups.map((group) => group[0]);
  for (const [begin, end] of run.gemm) {
    const cuts = [...ready.filter((cut) => cut > begin && cut < end), end];
    cuts.forEach((cut, i) => {
      const from = i === 0 ? begin : cuts[i - 1]!;
      const group = ready.findIndex((time) => time >= cut - 1e-9);
      const known = run.groups.length > 1 && group >= 0;
      bars.push({
        lane: first,
        begin: from,
        end: cut,
        kind: known && group % 2 ? "gemm-2" : "gemm",
        label: known ? String(group) : "GEMM",
        hint: [known ? `GEMM: tiles of group ${group}` : "GEMM", `${time(from)} to ${time(cut)}`],
      });
    });
  }
  run.groups.forEach(([readyAt, start, end, exposed], group) => {
    const hidden = Math.max(start, end - exposed);
    const label = run.groups.length === 1 ? "collective" : String(group);
    const hint = [
      run.groups.length === 1 ? "collective" : `group ${group}`,
      `ready ${time(readyAt)}`,
      `exchanged ${time(start)} to ${time(end)}`,
      `exposed ${time(exposed)}`,
    ];
    const inHidden = hidden - start > end - hidden;
    bars.push({
      lane: first + 1,
      begin: start,
      end: hidden,
      kind: group % 2 ? "exchange-2" : "exchange",
      label: inHidden ? label : "",
      hint,
    });
    bars.push({ lane: first + 1, begin: hidden, end, kind: "exposed", label: inHidden ? "" : label, hint });
    if (!exchangesFirst(op))
      bars.push({ lane: first, begin: readyAt, end: start, kind: "ready", label: "", hint: [] });
  });
  return bars.filter((bar) => bar.end > bar.begin || bar.kind === "ready");
}

/** The bars of both runs: one after the other in the lanes 0 and 1, the winner in 2 and 3. */
export function allBars(winner: Winner): Bar[] {
  if (!winner.timeline) return [];
  const measured = (lane: number, at: number | null): Bar[] =>
    at === null
      ? []
      : [{ lane, begin: at, end: at, kind: "measured", label: `measured ${time(at)}`, hint: [] }];
  return [
    ...barsOf(winner.timeline.sequential, winner.op, 0),
    ...barsOf(winner.timeline.winner, winner.op, 2),
    ...measured(0, winner.sequential_us),
    ...measured(2, winner.measured_us),
  ];
}
