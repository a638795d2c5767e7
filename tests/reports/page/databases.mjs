// Databases for the tests, and the reports on them.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

export function overlaptune(...words) {
  return execFileSync(process.env.OVERLAPTUNE_PROGRAM, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  });
}

/** The exported results of 8 H200, as a document. */
export const measured = () =>
  JSON.parse(
    gunzipSync(readFileSync(join(root, "docs/results/2026-11-22-h200-nvlink-x8.json.gz"))).toString(),
  );

/** A new database with the rows of a document. */
export function imported(file, document) {
  writeFileSync(`${file}.json`, JSON.stringify(document));
  overlaptune("db", "import", "--db", file, `${file}.json`);
  return file;
}

/** The document of one platform, whose fields are changed. Its rows name it by its fingerprint (core/platform.hpp). */
export function onChangedPlatform(document, changes) {
  const { fingerprint, ...fields } = { ...document.platforms[0], ...changes };
  let hash = 0xcbf29ce484222325n;
  for (const [name, value] of Object.entries(fields))
    for (const byte of new TextEncoder().encode(`${name}=${value}\n`))
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const changed = hash.toString(16).padStart(16, "0");
  return JSON.parse(
    JSON.stringify({ ...document, platforms: [{ fingerprint, ...fields }] }).replaceAll(fingerprint, changed),
  );
}

/** A small model tuned on a simulated machine. */
export function tuned(file, ...words) {
  overlaptune(
    "tune",
    "--db",
    file,
    "--machine",
    "sim:h200-nvlink-x4",
    "--model",
    join(root, "examples/models/llama-3-70b.json"),
    "--tp",
    "4",
    "--tokens",
    "1k,2k",
    "--top-k",
    "2",
    ...words,
  );
  return file;
}

/** The document with at least `count` winners: those that it has, with larger k. */
export function enlarged(document, count) {
  const winners = document.winners;
  const run = document.tuning_runs[0];
  const candidates = run.candidates;
  const copies = Math.ceil(count / winners.length);
  const larger = (row, by) => {
    const copy = structuredClone(row);
    const candidate = copy.candidate ?? copy;
    candidate.problem.k += 8 * by;
    return copy;
  };
  const all = (rows) => Array.from({ length: copies }, (_, by) => rows.map((row) => larger(row, by))).flat();
  return { ...document, winners: all(winners), tuning_runs: [{ ...run, candidates: all(candidates) }] };
}

export function report(database, file, ...words) {
  overlaptune("report", "--db", database, "--format", "html", "--out", file, ...words);
  return file;
}
