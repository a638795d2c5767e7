// The HTML report as a reader sees and uses it.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import axe from "axe-core";
import { chromium } from "playwright-core";

import { opened } from "./browser.mjs";
import { enlarged, imported, measured, onChangedPlatform, overlaptune, report, tuned } from "./databases.mjs";

const folder = join(process.env.FOLDER, "reports");
const pictures = join(process.env.FOLDER, "pictures");
const file = (name) => join(folder, name);
let browser;

before(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  mkdirSync(pictures, { recursive: true });
  imported(file("gpu.db"), measured());
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
});
after(() => browser?.close());

/** The document that `report --json` gives for a database. */
const facts = (database) => JSON.parse(overlaptune("report", "--db", file(database), "--format", "json"));
const textOf = (page, selector) => page.locator(selector).innerText();
/** How many shapes of a colour of page.css a figure has. */
const painted = (page, selector, name) =>
  page.evaluate(
    ([selector, name]) => {
      const wanted = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
      return document.querySelectorAll(`${selector} svg path[fill="${wanted}"]`).length;
    },
    [selector, name],
  );

/** Waits until a figure, which is drawn in the next frame, is as expected; fails after 5 seconds. */
async function eventually(reached) {
  for (let tries = 0; tries < 100; ++tries) {
    if (await reached()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`never came true: ${reached}`);
}

test("one file below 3 MB that says what was measured, and complains of nothing", async () => {
  const made = report(file("gpu.db"), file("gpu.html"));
  assert.ok(statSync(made).size < 3e6);
  const text = readFileSync(made, "utf8");
  for (const notice of ["Apache License", "The Apache Software Foundation", "BSD 3-Clause"])
    assert.ok(text.includes(notice), notice);
  assert.doesNotMatch(text, /<(script|link|img|iframe)[^>]*(src|href)=/);

  const { page, complaints } = await opened(browser, made);
  assert.equal(await textOf(page, "h1"), "8 × NVIDIA H200");
  const origin = await textOf(page, "#origin");
  for (const part of [
    "22 November 2026",
    "host vm",
    "580.159.04",
    "CUDA 13.0",
    "NCCL 2.28.9",
    "multicast off",
    "0.1.0",
  ])
    assert.ok(origin.includes(part), part);
  const mean = facts("gpu.db").means.find((row) => row.op === "all");
  assert.ok((await textOf(page, ".figure:nth-child(1) .value")).startsWith(mean.speedup_geomean.toFixed(2)));
  assert.match(await textOf(page, "#summary .lead"), /all 24 operations/);
  await page.screenshot({ path: join(pictures, "light.png"), fullPage: true });
  assert.deepEqual(complaints, []);
  await page.close();
});

test("each figure has its marks", async () => {
  const { page, complaints } = await opened(browser, file("gpu.html"));
  const count = facts("gpu.db").winners.length;
  assert.equal(await painted(page, "#results .bars", "gemm"), count); // a bar for each winner
  assert.ok((await page.locator("#results svg text", { hasText: /^of|×/ }).count()) >= count);
  assert.ok((await painted(page, "#timeline", "gemm")) >= 2);
  assert.ok((await painted(page, "#timeline", "exchange")) >= 2);
  assert.ok((await painted(page, "#timeline", "exposed")) >= 1);
  assert.ok((await page.locator("#timeline svg text", { hasText: "measured" }).count()) === 2);
  assert.ok((await painted(page, "#predictions", "gemm")) > 100); // candidates
  assert.ok((await page.locator("#bandwidth svg path[stroke-width='2']").count()) >= 5); // a line for each number of CTAs
  assert.equal(await page.locator("#bandwidth svg text", { hasText: "one link" }).count(), 1);
  assert.match(await textOf(page, "#failures"), /38 candidates failed: 38 unsupported/);
  for (const chart of await page.locator("[role=img]").all())
    assert.ok((await chart.getAttribute("aria-label")).length > 40);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("filter, sort, hover, zoom and the choice of a timeline work", async () => {
  const { page, complaints } = await opened(browser, file("gpu.html"));
  const rows = page.locator("table.winners tbody tr");
  const winners = facts("gpu.db").winners;
  await page.fill("#results input[type=search]", "all-reduce 4096");
  const matching = winners.filter((row) => row.problem.op === "gemm_all_reduce" && row.problem.m === 4096);
  assert.equal(await rows.count(), matching.length);
  await eventually(async () => (await painted(page, "#results .bars", "gemm")) === matching.length);
  assert.equal(
    await textOf(page, "#results [role=status]"),
    `${matching.length} of ${winners.length} operations`,
  );
  await page.fill("#results input[type=search]", "");
  assert.equal(await rows.count(), winners.length);

  await page.getByRole("button", { name: "Speedup", exact: true }).click(); // greatest first
  const shown = await rows.evaluateAll((all) =>
    all.map((row) => [...row.cells].map((cell) => cell.innerText).find((text) => /^[\d.]+×$/.test(text))),
  );
  const expected = winners
    .map((row) => row.speedup)
    .sort((a, b) => b - a)
    .map((value) => `${value.toFixed(2)}×`);
  assert.deepEqual(shown, expected);

  await rows.nth(3).getByRole("button").press("Enter"); // by keyboard
  const chosen = await page.locator("#timeline select").evaluate((select) => select.selectedOptions[0].text);
  assert.equal(
    `Show the timeline of ${chosen}`,
    await rows.nth(3).getByRole("button").getAttribute("aria-label"),
  );

  const width = () =>
    page.evaluate(() => {
      // of the widest part of a GEMM
      const gemm = getComputedStyle(document.documentElement).getPropertyValue("--gemm").trim();
      return Math.max(
        ...[...document.querySelectorAll(`#timeline svg path[fill="${gemm}"]`)].map(
          (bar) => bar.getBBox().width,
        ),
      );
    });
  const before = await width();
  await page.locator("#timeline figure").focus();
  await page.keyboard.press("+");
  await eventually(async () => (await width()) > 1.5 * before);
  await page.keyboard.press("0");
  await eventually(async () => (await width()) === before);

  const box = await page.locator("#timeline .chart").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 38); // on the GEMM of one after the other
  await page.locator("#timeline .chart", { hasText: /GEMM.*µs to/s }).waitFor();
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a model's passes, a simulated machine, and dark colours", async () => {
  const database = tuned(file("model.db"));
  const { page, complaints } = await opened(browser, report(database, file("model.html")), {
    colorScheme: "dark",
  });
  assert.match(await textOf(page, "h1"), /simulated/);
  assert.match(await textOf(page, "#summary"), /simulated machine/i);
  // By hand from the winners of `report --json`: 80 layers, o and down.
  const pass = facts("model.db")
    .winners.flatMap((row) =>
      row.layer_gemms
        .filter((gemm) => gemm.tokens === 2048 && gemm.parallelism === "tp")
        .map((gemm) => ({ ...gemm, row })),
    )
    .reduce((sum, { times_per_pass, row }) => sum + times_per_pass * row.sequential_us, 0);
  assert.ok(
    (await textOf(page, "#summary")).includes(
      `instead of ${(pass / 1000).toLocaleString("en-US", { maximumFractionDigits: 2 })} ms`,
    ),
  );
  assert.match(await textOf(page, "table.winners"), /llama-3-70b down/);
  // Every config of a strategy has a point in its colour, and the legend has one more.
  const { count } = facts("model.db").evaluation[0].breakdown.strategy.find(
    ({ name }) => name === "peer_store",
  );
  assert.equal(await painted(page, "#predictions", "fourth"), count + 1);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.click("#theme");
  assert.notEqual(await background(), dark);
  await page.click("#theme");
  await page.screenshot({ path: join(pictures, "dark.png"), fullPage: true });
  assert.deepEqual(complaints, []);
  await page.close();
});

test("the title says the result, the address the filter, a file has the rows, and words are explained", async () => {
  const { page, complaints } = await opened(browser, file("gpu.html"));
  const winners = facts("gpu.db").winners;
  const mean = facts("gpu.db").means.find((row) => row.op === "all").speedup_geomean;
  assert.equal(await page.title(), `overlaptune: ${mean.toFixed(2)}× on 8 × NVIDIA H200`);
  await page.fill("#results input[type=search]", "4096");
  await page.locator("#results select[title=Operation]").selectOption("gemm_all_reduce");
  const matching = winners.filter(
    (row) =>
      row.problem.op === "gemm_all_reduce" &&
      `${row.problem.m}×${row.problem.n}×${row.problem.k}`.includes("4096"),
  );
  const address = page.url();
  assert.match(address, /#.*q=4096.*op=gemm_all_reduce|#.*op=gemm_all_reduce.*q=4096/);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\r\n");
  assert.equal(lines.length, 1 + matching.length);
  const column = lines[0].split(",").indexOf("m");
  assert.deepEqual(
    lines
      .slice(1)
      .map((line) => Number(line.split(",")[column]))
      .sort(),
    matching.map((row) => row.problem.m).sort(),
  );

  await page.getByText("What the words mean").click();
  assert.match(await textOf(page, ".terms"), /Perfect overlap would take this long/);
  assert.deepEqual(complaints, []);
  await page.close();

  const again = await opened(browser, file(`gpu.html${address.slice(address.indexOf("#"))}`));
  assert.equal(await again.page.locator("table.winners tbody tr").count(), matching.length);
  assert.equal(await again.page.locator("#results input[type=search]").inputValue(), "4096");
  await again.page.close();
});

test("the summary says from how many tokens on overlap pays", async () => {
  const { page } = await opened(browser, file("gpu.html"));
  const text = await textOf(page, "#summary");
  const found = /Use overlap (.*)\./.exec(text)[1];
  // All 24 winners of this database are faster: each operation pays from its fewest tokens on.
  assert.ok(facts("gpu.db").winners.every((row) => row.speedup > 1.02));
  assert.match(found, /^from (\d+k?|[\d,]+) tokens on for /);
  assert.doesNotMatch(found, /not for/);
  await page.close();
});

/** The document with products of a model: each of `named` is [product, parallelism, n, k], at each number of tokens. */
function withProducts(document, named, speedupOf) {
  const gemms = [];
  const like = document.winners[0];
  const winners = named.flatMap(([product, parallelism, n, k]) =>
    [1024, 4096, 16384].map((tokens) => {
      const op = parallelism === "sp" ? "gemm_reduce_scatter" : "gemm_all_reduce";
      const problem = { ...like.candidate.problem, op, m: tokens, n, k };
      gemms.push({ model: "wide", product, parallelism, tokens, times_per_pass: 80, problem });
      const median = speedupOf(product, parallelism, tokens);
      const copy = structuredClone(like);
      Object.assign(copy.candidate, { problem, config: "chunked ctas=16 transport=ring chunks=4" });
      copy.candidate.speedup = { median, p10: median - 0.05, p90: median + 0.1 };
      return copy;
    }),
  );
  const [run] = document.tuning_runs;
  return {
    ...document,
    winners,
    tuning_runs: [{ ...run, candidates: winners.map((winner) => winner.candidate), layer_gemms: gemms }],
  };
}

test("the recommendation names the layouts of a product where they differ", async () => {
  const products = [
    ["down", "tp", 8192, 3584],
    ["down", "sp", 8192, 3584],
    ["o", "tp", 8192, 1024],
    ["o", "sp", 8192, 1024],
  ];
  // `o` pays from 4k in both layouts; `down` from 1k tensor-parallel, and never sequence-parallel.
  const speedupOf = (product, parallelism, tokens) => {
    if (product === "o") return tokens >= 4096 ? 1.2 : 1;
    return parallelism === "tp" ? 1.1 : 1.01;
  };
  const document = withProducts(measured(), products, speedupOf);
  const { page, complaints } = await opened(
    browser,
    report(imported(file("layouts.db"), document), file("layouts.html")),
  );
  assert.equal(
    /Use overlap (.*)\./.exec(await textOf(page, "#summary"))[1],
    "from 1k tokens on for down (tensor-parallel); from 4k for o; " + "not for down (sequence-parallel)",
  );
  assert.deepEqual(complaints, []);
  await page.close();
});

test("speedups over tokens are lines on one axis, with their percentiles as bands", async () => {
  const { page, complaints } = await opened(browser, file("layouts.html"));
  const curves = page.locator("#results .curves");
  const drawn = await curves.evaluate((figure) => {
    const style = getComputedStyle(document.documentElement);
    const has = (selector) => [...figure.querySelectorAll(selector)];
    return {
      lines: has("svg path[stroke-width='2'][fill='none']").length,
      bands: has("svg path[fill-opacity='0.18']").length,
      texts: has("svg text").map((text) => text.textContent),
      first: style.getPropertyValue("--gemm").trim(),
    };
  });
  assert.equal(drawn.bands, 4);
  // No name of the legend lies on the axis.
  const lowest = await curves
    .locator("svg text", { hasText: /parallel/ })
    .last()
    .boundingBox();
  const highest = await curves
    .locator("svg text", { hasText: /^1\.\d×$/ })
    .last()
    .boundingBox();
  assert.ok(lowest.y + lowest.height <= highest.y);
  assert.ok(drawn.lines >= 4);
  for (const text of ["1k", "4k", "16k", "tokens"]) assert.ok(drawn.texts.includes(text), text);
  await curves.locator("summary").click();
  await curves.locator("tbody tr").first().waitFor(); // the table is filled when it opens
  const rows = await curves.locator("tbody tr").evaluateAll((all) => all.map((row) => row.innerText));
  assert.equal(rows.length, 12);
  assert.ok(rows.includes(["o (tensor-parallel)", "4k", "1.20×", "1.15×", "1.30×"].join("\t")));
  await page.fill("#results input[type=search]", "down"); // a table that was open is not of other rows
  assert.equal(await curves.locator("tbody tr").count(), 0);
  await eventually(async () => (await curves.locator("svg path[fill-opacity='0.18']").count()) === 2);
  await page.selectOption("#results select[title=Tokens]", "1024"); // a single point is no line
  assert.ok(!(await curves.isVisible()));
  assert.deepEqual(complaints, []);
  await page.close();
});

test("more than 60 operations are a heat map, whose cells show their timelines", async () => {
  const shapes = Array.from({ length: 25 }, (_, i) => [`o`, "tp", 8192, 1024 + 512 * i]);
  const document = withProducts(measured(), shapes, (_, __, tokens) => 1 + tokens / 65536);
  document.tuning_runs[0].layer_gemms = []; // shapes without a model
  const made = report(imported(file("map.db"), document), file("map.html"));
  for (const width of [1200, 400]) {
    const { page, complaints } = await opened(browser, made, { viewport: { width, height: 900 } });
    const map = page.locator("#results .map");
    assert.ok(await map.isVisible());
    assert.ok(!(await page.locator("#results .bars").isVisible()));
    // By hand: gains of 1/64, 1/16 and 1/4 are 6 %, 25 % and 100 % of the largest.
    for (const [name, cells] of [
      ["ramp-1", 25],
      ["ramp-2", 25],
      ["ramp-5", 25],
    ])
      assert.equal(await painted(page, "#results .map", name), cells, name);
    assert.equal(await map.locator("svg text", { hasText: /^1\.25$/ }).count(), 25);
    assert.equal(await map.locator("svg text", { hasText: /^16k$/ }).count(), 1);
    await map
      .locator("svg text", { hasText: /^1\.25$/ })
      .first()
      .click({ force: true });
    const chosen = await page.locator("#timeline select").evaluate((list) => list.selectedOptions[0].text);
    assert.match(chosen, /16384×8192×1024/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    await page.screenshot({ path: join(pictures, `map-${width}.png`), fullPage: true });
    await page.fill("#results input[type=search]", "×1024,"); // few enough for bars
    assert.ok(!(await map.isVisible()));
    assert.deepEqual(complaints, []);
    await page.close();
  }
});

test("a comparison says its dates and what differs", async () => {
  const faster = onChangedPlatform(measured(), { driver_version: "590.1" });
  for (const winner of faster.winners) {
    winner.validated_at = "2026-11-26T10:00:00.000Z";
    for (const field of ["median_us", "p10_us", "p90_us"]) winner.candidate.measured[field] *= 0.95;
  }
  const made = report(imported(file("faster.db"), faster), file("dates.html"), "--compare", file("gpu.db"));
  const { page, complaints } = await opened(browser, made);
  assert.equal(
    await textOf(page, "#comparison .lead"),
    "5 % faster than on 22 November 2026; here: 26 November 2026 (driver 580.159.04 there, 590.1 here).",
  );
  assert.deepEqual(complaints, []);
  await page.close();
});

test("two databases are compared, and texts of a database are never markup", async () => {
  const slower = measured();
  for (const winner of slower.winners.slice(0, 3)) {
    for (const field of ["median_us", "p10_us", "p90_us"]) winner.candidate.measured[field] *= 2;
  }
  slower.tuning_runs[0].host = '</script><img src=x onerror="alert(1)">';
  const made = report(
    imported(file("slower.db"), slower),
    file("compared.html"),
    "--compare",
    file("gpu.db"),
  );
  const { page, complaints } = await opened(browser, made);
  assert.match(
    await textOf(page, "#comparison .said"),
    /Of 24 operations in both, 0 are faster here and 3 slower/,
  );
  assert.equal(await painted(page, "#comparison", "exposed"), 3);
  assert.ok((await textOf(page, "#origin")).includes("</script><img"));
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(complaints, []);
  await page.close();
});

test("a database of probes only, and one of winners only", async () => {
  const { platforms, probe_runs, tuning_runs, winners, ...rest } = measured();
  const probes = report(
    imported(file("probes.db"), { ...rest, platforms, probe_runs, tuning_runs: [], winners: [] }),
    file("probes.html"),
  );
  const first = await opened(browser, probes);
  assert.match(await textOf(first.page, "#summary"), /Nothing was tuned/);
  assert.ok(await first.page.locator("#bandwidth").isVisible());
  assert.ok(!(await first.page.locator("#timeline").isVisible()));
  assert.deepEqual(first.complaints, []);
  await first.page.close();

  const alone = report(
    imported(file("alone.db"), { ...rest, platforms, probe_runs: [], tuning_runs, winners }),
    file("alone.html"),
  );
  const second = await opened(browser, alone);
  assert.match(await textOf(second.page, "#timeline"), /no prediction/);
  assert.equal(await painted(second.page, "#results .bars", "gemm"), winners.length);
  assert.ok(!(await second.page.locator("#bandwidth").isVisible()));
  assert.deepEqual(second.complaints, []);
  await second.page.close();
});

test("the peer matrix has a cell for each pair, in numbers too", async () => {
  const document = measured();
  const probe = (from, to, bytes, us) => ({
    probe: { kind: "peer", bytes, from, to },
    time: { median_us: us, p10_us: us, p90_us: us, count: 9 },
    collective_time: null,
    library_tile: null,
    sm_clock_mhz: null,
    power_w: null,
  });
  const gpus = 4;
  for (let from = 0; from < gpus; ++from)
    for (let to = 0; to < gpus; ++to)
      if (from !== to) {
        const slow = from === 2 && to === 1;
        document.probe_runs[0].measurements.push(probe(from, to, 1 << 28, slow ? 10_000 : 1000));
        document.probe_runs[0].measurements.push(probe(from, to, 4096, 3 + from / 10));
      }
  const made = report(imported(file("peers.db"), document), file("peers.html"));
  const { page, complaints } = await opened(browser, made);
  assert.match(
    await textOf(page, "#peers .said"),
    /27 GB\/s to 268 GB\/s; the slowest is from GPU 2 to GPU 1/,
  );
  assert.equal(await painted(page, "#peers", "ramp-5"), gpus * (gpus - 1) - 1);
  assert.equal(await painted(page, "#peers", "ramp-1"), 1);
  assert.equal(await page.locator("#peers svg text", { hasText: /^268$/ }).count(), gpus * (gpus - 1) - 1);
  assert.match(await page.locator("#peers [role=img]").getAttribute("aria-label"), /slowest is from GPU 2/);
  await page.locator("#peers summary").click();
  await page.locator("#peers tbody tr").first().waitFor(); // the table is filled when it opens
  assert.equal(await page.locator("#peers tbody tr").count(), gpus * (gpus - 1));
  await page.selectOption("#peers select", "Latency");
  assert.match(await textOf(page, "#peers .said"), /3.0 µs to 3.3 µs; the longest is from GPU 3 to GPU 0/);
  await page.screenshot({ path: join(pictures, "peers.png"), fullPage: true });
  assert.deepEqual(complaints, []);
  await page.close();

  const without = await opened(browser, file("gpu.html"));
  assert.ok(!(await without.page.locator("#peers").isVisible()));
  await without.page.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`no barrier that axe knows of, ${colorScheme}`, async () => {
    const { page } = await opened(browser, file("compared.html"), { colorScheme });
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    assert.deepEqual(
      violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .map((node) => node.html.slice(0, 120))
            .slice(0, 3)
            .join(" | ")}`,
      ),
      [],
    );
    await page.close();
  });
}

test("a narrow screen shows all without scrolling sideways", async () => {
  const { page } = await opened(browser, file("gpu.html"), { viewport: { width: 390, height: 844 } });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await page.screenshot({ path: join(pictures, "narrow.png"), fullPage: true });
  await page.close();
});

test("paper is white, and has every row", async () => {
  const { page } = await opened(browser, file("gpu.html"), { colorScheme: "dark" });
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    "rgb(255, 255, 255)",
  );
  assert.equal(await page.locator("table.winners tbody tr").count(), 24);
  assert.ok(!(await page.locator(".controls").isVisible()));
  await page.setViewportSize({ width: 700, height: 990 }); // the figures, drawn wider, are scaled to the paper
  for (const figure of await page.locator(".chart svg").all()) {
    const { width, height } = await figure.boundingBox();
    assert.ok(width <= 700 && height > 80, `${width} x ${height}`);
  }
  await page.pdf({ path: join(pictures, "print.pdf"), format: "A4" });
  await page.close();
});

test("2,000 winners take less than 2 seconds of the processor", async () => {
  const made = report(imported(file("large.db"), enlarged(measured(), 2000)), file("large.html"));
  assert.ok(statSync(made).size < 5e6);
  const { page, complaints, busySeconds } = await opened(browser, made);
  const seconds = await busySeconds();
  console.log(`2,000 winners: ${seconds.toFixed(2)} s of the processor, ${statSync(made).size} bytes`);
  assert.ok(seconds < 2);
  assert.match(await textOf(page, "#results [role=status]"), /20\d\d operations/);
  await page.fill("#results input[type=search]", "all-to-all 1024×8192×1024");
  assert.equal(await page.locator("table.winners tbody tr").count(), 1);
  assert.deepEqual(complaints, []);
  await page.close();
});
