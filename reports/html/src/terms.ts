// The words of the page, explained on the page.
import { element } from "./dom";

const terms: [string, string][] = [
  ["sequential", "The library's GEMM, then the collective: one after the other."],
  ["speedup", "The time of sequential divided by the time of the winner. Both ran in turn."],
  [
    "cold",
    "The speedup as the first run of a burst: caches hold other data, and the GPU was idle. An interval of it decided whether the winner stays.",
  ],
  ["beside", "The speedup while another kernel copies memory on a few SMs of each GPU. It decided likewise."],
  ["ideal", "The longer of the GEMM alone and the collective alone. Perfect overlap would take this long."],
  [
    "hidden",
    "How much of what overlap could save was saved: 0 % is sequential, 100 % is the ideal. A winner that is faster counts as at the ideal, because the parts alone were timed by themselves.",
  ],
  ["chunked", "Several library GEMMs and collectives beside each other on two streams."],
  ["signaled", "One GEMM that signals as groups of its tiles finish, and a collective for each group."],
  ["peer_store", "One GEMM that stores each tile into the memory of the GPU that owns it."],
  ["waiting", "One GEMM that waits, group by group of tiles, for rows as they arrive."],
  ["regret", "How much slower the model's first choice is than the best that was measured."],
];

export function termsSection(parent: HTMLElement): void {
  parent.append(
    element(
      "details",
      { class: "terms" },
      element("summary", {}, "What the words mean"),
      element(
        "dl",
        {},
        ...terms.flatMap(([term, meaning]) => [element("dt", {}, term), element("dd", {}, meaning)]),
      ),
    ),
  );
}
