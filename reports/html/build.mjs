// Bundles src/ into one HTML file without links to anything outside:  node build.mjs OUTPUT.html
import { build } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (!output) throw new Error("usage: node build.mjs OUTPUT.html");

const bundle = await build({
  entryPoints: [join(folder, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none", // the licences are kept as a whole, see below
  metafile: true,
  write: false,
  outdir: "out",
  define: { "process.env.NODE_ENV": '"production"' },
});

const textOf = (suffix) => bundle.outputFiles.find((file) => file.path.endsWith(suffix)).text;

/** The names of the packages whose code is in the bundle. */
function packages() {
  const names = Object.keys(bundle.metafile.inputs).map(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1],
  );
  return [...new Set(names.filter(Boolean))].sort();
}

/** Name, version, licence and notices of a package, as text. */
function notice(name) {
  const root = join(folder, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = ["NOTICE", "LICENSE", "LICENSE.txt", "licenses/LICENSE-d3"]
    .map((file) => join(root, file))
    .filter(existsSync);
  if (files.length === 0) throw new Error(`${name}: no licence file`);
  return [`${name} ${version} (${license})`, ...files.map((file) => readFileSync(file, "utf8").trim())].join(
    "\n\n",
  );
}

const escapeText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const parts = {
  STYLE: textOf(".css"),
  SCRIPT: textOf(".js").replaceAll("</script", "<\\/script"),
  LICENSES: escapeText(packages().map(notice).join("\n\n----\n\n")),
};
const template = readFileSync(join(folder, "src/template.html"), "utf8");
writeFileSync(
  output,
  template.replace(/@(STYLE|SCRIPT|LICENSES)@/g, (_, name) => parts[name]),
);
