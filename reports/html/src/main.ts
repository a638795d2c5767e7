// The page: reads the data, and shows one platform at a time.
import "./page.css";
import "./print.css";

import { choose, chosen } from "./address";
import { bandwidthSection } from "./bandwidth";
import { comparisonSection } from "./comparison";
import { conditionsSection } from "./conditions";
import { type Platform, type Report, type Show, readReport } from "./data";
import { byId, element } from "./dom";
import { failuresSection } from "./failures";
import { day, ratio } from "./format";
import { peersSection } from "./peers";
import { predictionsSection } from "./predictions";
import { resultsSection } from "./results";
import { summarySection } from "./summary";
import { termsSection } from "./terms";
import { startTheme } from "./theme";
import { timelineSection } from "./timeline";

function hardware(platform: Platform): string {
  const gpus = `${platform.gpu_count} × ${platform.gpu_model}`;
  return platform.simulated ? `${gpus}, simulated` : gpus;
}

function origin(platform: Platform): string {
  const run = platform.run;
  return [
    run &&
      `${platform.simulated ? "Simulated" : "Measured"} ${day(run.at)} on host ${run.host}${run.finished ? "" : " (run not finished)"}`,
    `${platform.topology}, ${platform.link}`,
    !platform.simulated && `driver ${platform.driver}`,
    `CUDA ${platform.cuda}`,
    `NCCL ${platform.nccl}`,
    `NVLink multicast ${platform.multicast ? "on" : "off"}`,
    run && `overlaptune ${run.version}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function start(report: Report) {
  const timeline = timelineSection(byId("timeline"), report);
  const sections: Show[] = [
    summarySection(byId("summary"), report),
    resultsSection(byId("results"), report, timeline.select),
    timeline.show,
    predictionsSection(byId("predictions"), report),
    bandwidthSection(byId("bandwidth"), report),
    peersSection(byId("peers"), report),
    failuresSection(byId("failures"), report),
    conditionsSection(byId("conditions"), report),
  ];
  if (report.comparison) comparisonSection(byId("comparison"), report.comparison);

  const show = (index: number) => {
    const platform = report.platforms[index]!;
    byId("title").textContent = hardware(platform);
    byId("origin").textContent = origin(platform);
    const speedup = platform.summary.speedup_geomean;
    document.title = `overlaptune: ${speedup === null ? "" : `${ratio(speedup)} on `}${hardware(platform)}`;
    document.body.classList.toggle("simulated", platform.simulated);
    for (const section of sections) section(index);
  };
  const choice = byId("platform") as HTMLSelectElement;
  report.platforms.forEach((platform, index) =>
    choice.append(element("option", { value: String(index) }, platform.name)),
  );
  choice.addEventListener("change", () => {
    choose({ platform: report.platforms[Number(choice.value)]!.fingerprint });
    show(Number(choice.value));
  });
  termsSection(byId("terms"));
  byId("platform-choice").hidden = report.platforms.length < 2;
  byId("made").textContent =
    `Made ${report.made.at.slice(0, 16).replace("T", " ")} UTC by overlaptune ${report.made.version} from ${report.made.database}. ` +
    "Speedup is the time of sequential (the library's GEMM, then NCCL's collective) divided by the time of the winner.";
  byId("print").addEventListener("click", () => window.print());

  const first = report.platforms.findIndex((_, index) =>
    report.winners.some((winner) => winner.platform === index),
  );
  const asked = report.platforms.findIndex((platform) => platform.fingerprint === chosen("platform"));
  const begin = asked < 0 ? Math.max(first, 0) : asked;
  choice.value = String(begin);
  show(begin);
}

startTheme(byId("theme"));
start(readReport(byId("data").textContent ?? ""));
// The figures are on the screen after the next frame. The value is in milliseconds since the file was opened.
requestAnimationFrame(() =>
  requestAnimationFrame(
    () => (document.documentElement.dataset.ready = String(Math.round(performance.now()))),
  ),
);
