// The conditions of the measurements, as stored.
import type { Report, Show } from "./data";
import { element } from "./dom";

export function conditionsSection(parent: HTMLElement, report: Report): Show {
  const list = element("dl");
  parent.append(
    element("h2", { id: "conditions-title" }, "Conditions"),
    element("p", { class: "hint" }, "A result holds for GPUs, links and software as below."),
    list,
  );
  return (platform) => {
    list.replaceChildren(
      ...report.platforms[platform]!.conditions.filter(([, value]) => value).flatMap(([name, value]) => [
        element("dt", {}, name.replaceAll("_", " ")),
        element("dd", {}, value),
      ]),
    );
  };
}
