// Candidates that were not valid, and why.
import type { FailedCandidate, Report, Show } from "./data";
import { element, onOpening, plainTable } from "./dom";
import { count, words } from "./format";

export function failuresSection(parent: HTMLElement, report: Report): Show {
  const body = element("div");
  parent.append(element("h2", { id: "failures-title" }, "What failed"), body);
  return (platform) => {
    const rows = report.failures.filter((row) => row.platform === platform);
    const verdicts = new Map<string, FailedCandidate[]>();
    for (const row of rows) verdicts.set(row.verdict, [...(verdicts.get(row.verdict) ?? []), row]);
    const said = [...verdicts].map(([verdict, list]) => `${list.length} ${words(verdict)}`).join(", ");
    const cut = report.failures.length < report.failuresInAll;
    // The document has the newest failures of all platforms; how many a platform has is not known then.
    const failed = cut
      ? `The newest ${count(rows.length, "candidate")} that failed here, of ${report.failuresInAll} in the database`
      : `${count(rows.length, "candidate")} failed`;
    body.replaceChildren(
      element(
        "p",
        {},
        rows.length === 0
          ? cut
            ? `None of the newest ${report.failures.length} failures in the database is of this platform.`
            : "Nothing: each candidate ran, and its result was right."
          : `${failed}: ${said}. None of them can become an answer.`,
      ),
    );
    if (rows.length === 0) return;
    body.append(
      onOpening("All of them", "", () =>
        plainTable(
          "Failed candidates",
          ["problem", "verdict", "reason", "config"],
          rows.map((row) => [row.problem, words(row.verdict), row.reason, row.config]),
        ),
      ),
    );
  };
}
