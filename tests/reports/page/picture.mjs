// The picture of the README: the top of a report on the GPU results of docs/results.
//   OVERLAPTUNE_PROGRAM=... CHROMIUM=... node picture.mjs OUTPUT.png
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "playwright-core";

import { opened } from "./browser.mjs";
import { imported, measured, report } from "./databases.mjs";

const width = 1000;
const folder = mkdtempSync(join(tmpdir(), "overlaptune-picture-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
try {
  const file = report(imported(join(folder, "gpu.db"), measured()), join(folder, "gpu.html"));
  const { page } = await opened(browser, file, { viewport: { width, height: 900 } });
  const height = await page.evaluate(
    () => document.querySelector("#results figcaption").getBoundingClientRect().bottom + window.scrollY + 16,
  );
  await page.screenshot({ path: process.argv[2], fullPage: true, clip: { x: 0, y: 0, width, height } });
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
