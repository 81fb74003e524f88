/**
 * Bundle the page: `explorer/static/` and its packages go in, `explorer/static/dist/` comes out.
 *
 * Every file name contains the hash of its content, so browsers may cache the file for ever. `manifest.json`
 * maps the names of the sources to the files, `first_load.json` lists the modules of a first visit. Texts are
 * also stored compressed.
 */
import { build } from "esbuild";
import { minify } from "terser";
import { createHash } from "node:crypto";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const source = "explorer/static";
const output = `${source}/dist`;
/** Small modules that the editor and the stages need. They are part of the file of `app.js`. */
const SHARED_BY_FIRST = ["core/line_words.js", "runs/samples.js"];
const FIRST_MODULES = ["app.js", "editor/editor.js", "dock/dock.js", "panes/stage.js"];
const panes = (await readdir(`${source}/panes`)).filter((name) => name.endsWith(".js"));
const workers = await readdir(`${source}/workers`);

await rm(output, { recursive: true, force: true });
/** `@import "./folder/*.css"` stands for every style sheet of the folder. @type {import("esbuild").Plugin} */
const folderOfStyles = {
  name: "folder-of-styles",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/\*\.css$/ }, ({ path: pattern, resolveDir }) => ({
      path: path.resolve(resolveDir, path.dirname(pattern)),
      namespace: "folder-of-styles",
    }));
    onLoad({ filter: /^/, namespace: "folder-of-styles" }, async ({ path: folder }) => ({
      contents: (await readdir(folder))
        .filter((name) => name.endsWith(".css"))
        .sort()
        .map((name) => `@import "./${name}";`)
        .join("\n"),
      loader: "css",
      resolveDir: folder,
    }));
  },
};

const PLOTLY = "node_modules/plotly.js-basic-dist-min/plotly-basic.min.js";
/**
 * In the offline file, Plotly is embedded beside the page if the page contains plots.
 * @type {import("esbuild").Plugin}
 */
const plotlyBeside = {
  name: "plotly-beside",
  setup({ onResolve }) {
    onResolve({ filter: /^plotly\.js-basic-dist-min$/ }, () => ({
      path: path.resolve(source, "offline/embedded_plotly.js"),
    }));
  },
};

/**
 * Every module of the page imports `app.js`, which runs before the other modules are loaded. So the file
 * of `app.js` contains the modules that they share: it compresses better than many small files. In the same
 * way, the files of the editor and the stages contain the modules that they share with later modules.
 * @type {import("esbuild").Plugin}
 */
const afterFirst = {
  name: "after-first",
  setup({ onLoad }) {
    const root = path.resolve(source) + path.sep;
    onLoad({ filter: /\.js$/ }, async ({ path: file }) => {
      if (!file.startsWith(root)) return undefined;
      const text = await readFile(file, "utf8");
      const first = file === `${root}app.js` ? [...SHARED_BY_FIRST] : ["app.js"];
      if (/^(?:import|\}).* from "@(?:codemirror|lezer)\//m.test(text)) first.push("editor/editor.js");
      if (file.startsWith(path.join(root, "panes"))) first.push("panes/stage.js");
      const imports = first.map((name) => `import ${JSON.stringify(root + name)};`);
      return { contents: `${imports.join(" ")} ${text}` };
    });
  },
};

/** @type {import("esbuild").BuildOptions & {metafile: true}} */
const options = {
  bundle: true,
  target: ["chrome110", "firefox115", "safari16.4"],
  minify: true,
  legalComments: "none",
  // Libraries omit their notices for developers.
  define: { process: JSON.stringify({ env: { NODE_ENV: "production" } }) },
  metafile: true,
  logLevel: "warning",
  plugins: [folderOfStyles],
};
/** @type {import("esbuild").BuildOptions} */
const modules = {
  outdir: output,
  outbase: source,
  entryNames: "[dir]/[name]-[hash]",
  chunkNames: "chunks/[name]-[hash]",
  splitting: true,
  format: "esm",
};
const { metafile } = await build({
  ...options,
  ...modules,
  entryPoints: [
    `${source}/app.js`,
    `${source}/page.css`,
    `${source}/icon.svg`,
    ...panes.map((name) => `${source}/panes/${name}`),
  ],
  assetNames: "fonts/[name]-[hash]",
  loader: { ".woff2": "file", ".svg": "copy" },
  plugins: [...(options.plugins ?? []), afterFirst],
});

/** The pages with a separate style sheet, which keeps the first load small. */
const STYLED = ["account", "compare", "glossary", "matrix", "session"];
/** These pages share no files with the main page: sharing would split the files of both. */
const { metafile: others } = await build({
  ...options,
  ...modules,
  entryPoints: [
    ...["compare", "matrix", "session", "glossary"].map((page) => `${source}/${page}/page.js`),
    ...STYLED.map((page) => `${source}/${page}/${page}.css`),
  ],
});

/** The theme, which is set before the page is drawn, and the scripts beside the page: a file each. */
const { metafile: beside } = await build({
  ...options,
  entryPoints: [
    `${source}/theme.js`,
    `${source}/account/copy.js`,
    ...workers.map((name) => `${source}/workers/${name}`),
  ],
  outdir: output,
  outbase: source,
  entryNames: "[dir]/[name]-[hash]",
  format: "iife",
});

/** The page for a file without a server: one script with all modules, and one style sheet with its fonts. */
const { metafile: offline } = await build({
  ...options,
  stdin: {
    contents: ["offline/recording.js", ...panes.map((name) => `panes/${name}`), "app.js", "page.css"]
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

/** The modules of the first load: a browser that knows them requests all at once. @type {Set<string>} */
const firstLoad = new Set();
const collect = (/** @type {string} */ file) => {
  if (firstLoad.has(file)) return;
  firstLoad.add(file);
  for (const { path: imported, kind } of metafile.outputs[`${output}/${file}`].imports) {
    if (kind === "import-statement") collect(path.relative(output, imported));
  }
};
for (const [file, { entryPoint = "" }] of Object.entries(metafile.outputs))
  if (FIRST_MODULES.includes(path.relative(source, entryPoint))) collect(path.relative(output, file));

/** @type {Record<string, string>} */
const manifest = {};
for (const file of Object.keys(offline.outputs))
  manifest[`offline${path.extname(file)}`] = path.relative(output, file);
for (const [file, { entryPoint, inputs }] of Object.entries({
  ...metafile.outputs,
  ...others.outputs,
  ...beside.outputs,
})) {
  if (entryPoint) manifest[path.relative(source, entryPoint)] = path.relative(output, file);
  const [input] = Object.keys(inputs);
  if (file.endsWith(".woff2") && input)
    manifest[`fonts/${path.basename(input)}`] = path.relative(output, file);
  if (!/\.(js|css)$/.test(file)) continue;
  let text = await readFile(file);
  if (firstLoad.has(path.relative(output, file))) {
    // Terser saves 3 % more than esbuild. Names with a leading underscore are private to dockview, in only
    // one file.
    const { code = "" } = await minify(text.toString(), {
      module: true,
      ecma: 2020,
      compress: {
        passes: 3,
        keep_fargs: false,
        pure_getters: true,
        unsafe_arrows: true,
        unsafe_methods: true,
      },
      mangle: /\bdock-/.test(file) ? { properties: { regex: /^_/ } } : true,
    });
    text = Buffer.from(code);
    await writeFile(file, text);
  }
  await writeFile(`${file}.gz`, gzipSync(text, { level: 9 }));
  await writeFile(
    `${file}.br`,
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}
const plotly = `plotly-${createHash("sha256")
  .update(await readFile(PLOTLY))
  .digest("hex")
  .slice(0, 8)}.js`;
await copyFile(PLOTLY, `${output}/${plotly}`);
manifest["plotly.js"] = plotly;
await writeFile(`${output}/manifest.json`, JSON.stringify(manifest, null, 1));

await writeFile(`${output}/first_load.json`, JSON.stringify([...firstLoad], null, 1));
