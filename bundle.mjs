/**
 * Bundle the page: `explorer/static/*.js` and its packages go in, `explorer/static/dist/` comes out.
 *
 * Every file name holds the hash of its content, so that browsers may keep it for ever;
 * `manifest.json` says which file answers to which name, `first_load.json` which modules a first visit needs.
 * Texts are stored compressed beside themselves.
 */
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const source = "explorer/static";
const output = `${source}/dist`;
const FIRST_MODULES = ["app.js", "editor.js", "dock.js", "panes/stage.js"];
const panes = (await readdir(`${source}/panes`)).filter((name) => name.endsWith(".js"));
const workers = await readdir(`${source}/workers`);

await rm(output, { recursive: true, force: true });
/** `@import "./folder/*.css"` stands for every style sheet of the folder. @type {import("esbuild").Plugin} */
const folderOfStyles = {
  name: "folder-of-styles",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/\*\.css$/ }, ({ path: pattern, resolveDir }) => ({
      path: path.resolve(resolveDir, path.dirname(pattern)), namespace: "folder-of-styles",
    }));
    onLoad({ filter: /^/, namespace: "folder-of-styles" }, async ({ path: folder }) => ({
      contents: (await readdir(folder)).filter((name) => name.endsWith(".css")).sort().map((name) => `@import "./${name}";`).join("\n"),
      loader: "css",
      resolveDir: folder,
    }));
  },
};

const PLOTLY = "node_modules/plotly.js-basic-dist-min/plotly-basic.min.js";
/** In a file of its own, Plotly is packed beside the page, where there is something to plot. @type {import("esbuild").Plugin} */
const plotlyBeside = {
  name: "plotly-beside",
  setup({ onResolve }) {
    onResolve({ filter: /^plotly\.js-basic-dist-min$/ }, () => ({ path: path.resolve(source, "packed_plotly.js") }));
  },
};

/** @type {import("esbuild").BuildOptions & {metafile: true}} */
const options = {
  bundle: true,
  target: ["chrome110", "firefox115", "safari16.4"],
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  plugins: [folderOfStyles],
};
const { metafile } = await build({
  ...options,
  entryPoints: [
    `${source}/theme.js`,
    `${source}/app.js`,
    `${source}/compare/page.js`,
    `${source}/page.css`,
    `${source}/icon.svg`,
    ...panes.map((name) => `${source}/panes/${name}`),
  ],
  outdir: output,
  outbase: source,
  entryNames: "[dir]/[name]-[hash]",
  chunkNames: "chunks/[name]-[hash]",
  assetNames: "fonts/[name]-[hash]",
  loader: { ".woff2": "file", ".svg": "copy" },
  splitting: true,
  format: "esm",
});

/** What works beside the page: a script each, which a file without a server brings along as it is. */
const { metafile: beside } = await build({
  ...options,
  entryPoints: workers.map((name) => `${source}/workers/${name}`),
  outdir: output,
  outbase: source,
  entryNames: "[dir]/[name]-[hash]",
  format: "iife",
});

/** The page for a file without a server: one script with everything in it, one style sheet with its fonts. */
const { metafile: offline } = await build({
  ...options,
  stdin: {
    contents: ["recording.js", ...panes.map((name) => `panes/${name}`), "app.js", "page.css"]
      .map((name) => `import "./${name}";`)
      .join("\n"),
    resolveDir: source,
    sourcefile: "offline.js",
  },
  outdir: output,
  entryNames: "offline-[hash]",
  loader: { ".woff2": "dataurl" },
  plugins: [...(options.plugins ?? []), plotlyBeside],
  format: "iife",
});

/** @type {Record<string, string>} */
const manifest = {};
for (const file of Object.keys(offline.outputs)) manifest[`offline${path.extname(file)}`] = path.relative(output, file);
for (const [file, { entryPoint, inputs }] of Object.entries({ ...metafile.outputs, ...beside.outputs })) {
  if (entryPoint) manifest[path.relative(source, entryPoint)] = path.relative(output, file);
  const [input] = Object.keys(inputs);
  if (file.endsWith(".woff2") && input) manifest[`fonts/${path.basename(input)}`] = path.relative(output, file);
  if (!/\.(js|css)$/.test(file)) continue;
  const text = await readFile(file);
  await writeFile(`${file}.gz`, gzipSync(text, { level: 9 }));
  await writeFile(
    `${file}.br`,
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}
const plotly = `plotly-${createHash("sha256").update(await readFile(PLOTLY)).digest("hex").slice(0, 8)}.js`;
await copyFile(PLOTLY, `${output}/${plotly}`);
manifest["plotly.js"] = plotly;
await writeFile(`${output}/manifest.json`, JSON.stringify(manifest, null, 1));

/** Modules import others: a browser that knows of all asks for them at once. @type {Set<string>} */
const firstLoad = new Set();
const collect = (/** @type {string} */ file) => {
  if (firstLoad.has(file)) return;
  firstLoad.add(file);
  for (const { path: imported, kind } of metafile.outputs[`${output}/${file}`].imports) {
    if (kind === "import-statement") collect(path.relative(output, imported));
  }
};
for (const name of FIRST_MODULES) collect(manifest[name]);
await writeFile(`${output}/first_load.json`, JSON.stringify([...firstLoad], null, 1));
