// The results in a few sentences and four figures.
import { advice } from "./advice";
import type { Pass, Platform, Report, Show, Winner } from "./data";
import { element } from "./dom";
import { count, percent, ratio, time, tokens } from "./format";
import { fullName } from "./labels";

/** The winner with the greatest speedup. */
function best(winners: Winner[]): Winner | null {
  return winners.reduce<Winner | null>(
    (most, winner) => ((winner.speedup ?? 0) > (most?.speedup ?? 0) ? winner : most),
    null,
  );
}

/** The pass of most tokens, of one model; the one that gains most where there are several. */
function largestPass(passes: Pass[]): Pass | null {
  const gain = (pass: Pass) => pass.sequential_us / pass.overlapped_us;
  return [...passes].sort((a, b) => b.tokens - a.tokens || gain(b) - gain(a))[0] ?? null;
}

function passSentence(pass: Pass): string {
  const saved = pass.sequential_us - pass.overlapped_us;
  const how = pass.parallelism === "sp" ? "sequence-parallel" : "tensor-parallel";
  return (
    `A ${how} forward pass of ${pass.model} over ${tokens(pass.tokens)} tokens spends ${time(pass.overlapped_us)} in these ` +
    `operations instead of ${time(pass.sequential_us)}: ${time(saved)} less (${percent(saved / pass.sequential_us)}).`
  );
}

function sentences(platform: Platform, winners: Winner[]): string[] {
  const { summary } = platform;
  if (winners.length === 0 || summary.speedup_geomean === null) {
    return ["Nothing was tuned on this platform yet: it has probes only."];
  }
  const most = best(winners);
  const pass = largestPass(platform.passes);
  const rest = summary.winners - summary.overlapped;
  return [
    `Running each matrix product and its collective at the same time, instead of one after the other, is faster in ` +
      `${rest === 0 ? "all" : `${summary.overlapped} of`} ${count(summary.winners, "operation")}: ${ratio(summary.speedup_geomean)} in the geometric mean` +
      (most ? `, ${ratio(most.speedup)} at best (${fullName(most)}).` : "."),
    rest > 0
      ? `For the other ${rest === 1 ? "one" : rest}, one after the other stays the fastest, and is what overlaptune answers.`
      : "",
    advice(winners),
    pass ? passSentence(pass) : "",
    platform.simulated
      ? "These times come from a simulated machine. They show what to expect, and were not measured on GPUs."
      : "",
  ].filter(Boolean);
}

function figure(value: string, label: string, note: string) {
  return element(
    "div",
    { class: "figure" },
    element("p", { class: "label" }, label),
    element("p", { class: "value" }, value),
    element("p", { class: "note" }, note),
  );
}

function figures(platform: Platform, winners: Winner[]) {
  const { summary, evaluation } = platform;
  const pass = largestPass(platform.passes);
  const most = best(winners);
  return element(
    "div",
    { class: "figures" },
    figure(
      ratio(summary.speedup_geomean),
      "Speedup",
      `geometric mean of ${count(summary.winners, "operation")} over one after the other`,
    ),
    pass
      ? figure(
          time(pass.sequential_us - pass.overlapped_us),
          "Saved in a forward pass",
          `${percent(1 - pass.overlapped_us / pass.sequential_us)} of the time in these operations; ${pass.model}, ${tokens(pass.tokens)} tokens`,
        )
      : figure(ratio(most?.speedup ?? null), "Best speedup", most ? fullName(most) : ""),
    figure(
      percent(summary.hidden_mean),
      "Hidden",
      `of the communication that could be hidden; mean of ${count(summary.hidden_count, "operation")}`,
    ),
    figure(
      percent(evaluation.error_mean, 1),
      "Error of the model",
      `mean over ${count(evaluation.count, "config")}; its first choice is ${percent(evaluation.regret_top1_mean, 1)} slower than the best measured`,
    ),
  );
}

export function summarySection(parent: HTMLElement, report: Report): Show {
  return (index) => {
    const platform = report.platforms[index]!;
    const winners = report.winners.filter((winner) => winner.platform === index);
    const [lead = "", ...more] = sentences(platform, winners);
    parent.replaceChildren(
      ...(platform.simulated ? [element("p", { class: "badge" }, "Simulated")] : []),
      element("p", { class: "lead" }, lead),
      ...more.map((text) => element("p", {}, text)),
      figures(platform, winners),
    );
  };
}
