/**
 * Bundle the page: `explorer/static/` and its packages go in, `explorer/static/dist/` comes out.
 *
 * Every file name holds the hash of its content, so that browsers may keep it for ever;
 * `manifest.json` says which file answers to which name, `first_load.json` which modules a first visit needs.
 * Texts are stored compressed beside themselves.
 *
 * With `--watch`, the page is bundled again after each change, until the standard input ends. This takes less
 * time: nothing is minified or compressed.
 */
import { build, context } from "esbuild";
import { minify } from "terser";
import { createHash } from "node:crypto";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const isWatching = process.argv.includes("--watch");
const source = "explorer/static";
const output = `${source}/dist`;
/** Small modules that the editor and the stages need. They are in the file of `app.js`. */
const SHARED_BY_FIRST = ["core/line_words.js", "runs/samples.js"];
const FIRST_MODULES = ["app.js", "editor/editor.js", "dock/dock.js", "panes/stage.js", "panes/findings.js"];
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
      watchDirs: [folder],
    }));
  },
};

/**
 * The names in rules of dockview that the page does not need: themes, floating groups, vertical tabs, invisible lines.
 * They would be half of the whole style sheet.
 */
const UNUSED_RULES = String.raw`
  animation context-menu debug default-tab drop-target-anchor drop-target-container floating (?:in)?active-group
  groupview-(?:edge|header) overlay-render pane-container render-overlay resize-container
  right-actions-container-vertical scroll single-tab splitview-disabled tab-(?:dragging|ghost|group) tab--
  tab:(?:focus|not) tabs-container-vertical tabs-overflow-(?:group|container\s\.) watermark\s`;
const UNUSED = new RegExp(
  String.raw`^ *(?=\.[^{}]*(?:dockview-(?:theme|spaced)|dv-(?:${wordsOf(UNUSED_RULES).join("|")})))[^{}]*\{[^{}]*\}`,
  "gm",
);
/**
 * Methods of dockview that only floating groups, popout windows, groups at the edges, groups of tabs, animated tabs and
 * drawn scrollbars need. The page uses none of these. They would be a fifth of the file.
 */
const UNUSED_METHODS = {
  DockviewComponent: `_doAddFloatingGroup _doAddPopoutGroup _gatherFloatingGroupBoxes addEdgeGroup adjacentGroup
    adjacentGroupInDirection createNestedGridview deserializeEdgeGroups deserializeFloatingWindows
    deserializeNestedGridview deserializePopoutWindows detachFromNestedWindow disposePopoutWindow getEdgeGroup
    handleBlockedPopout isEdgeGroupCollapsed mountFloatingWindow moveTabGroupToGroup moveToNext moveToPrevious
    redockGroupToMainGrid removeEdgeGroup setEdgeGroupCollapsed`,
  DockviewGroupPanelModel: `_computeGlobalIndex _doCreateTabGroup _enforceContiguity _handleGroupCollapse
    _handleGroupExpand _removeTabGroupInternal addPanelToTabGroup dissolveTabGroup movePanelBetweenGroups
    movePanelWithinGroup moveTabGroup restoreTabGroups`,
  Scrollbar: "constructor",
  ShellManager: `addEdgeView fromJSON isEdgeGroupCollapsed isEdgeGroupVisible removeEdgeView setEdgeGroupCollapsed
    setEdgeGroupVisible toJSON`,
  TabGroupManager: `_buildChipGhostElement _createChipDragSources _ensureChipForGroup _ensureIndicator
    _positionChipForGroup setGroupDragImage`,
  Tabs: `_clearGroupDragClasses _commitGroupMove _handleChipDragStart _handleChipDrop _handlePointerDragMove
    _processDragLeave _processDragOver applyDragOverTransforms handleDragOver handleVoidDrop resetTabTransforms
    runFlipAnimation setExternalInsertionIndex`,
};
const MODULES = "[WatermarkModule, RootDropTargetModule, HeaderActionsModule, LiveRegionModule]";

/** @param {string} text */
function wordsOf(text) {
  return text.trim().split(/\s+/);
}

/**
 * Replace a part of dockview. A part that a new version of dockview does not have is an error.
 * @param {string} code @param {string} pattern @param {string} by
 */
function replacePart(code, pattern, by) {
  const part = new RegExp(pattern, "m");
  if (!part.test(code))
    throw new Error(`dockview-core has no part ${pattern}: change the list in bundle.mjs.`);
  return code.replace(part, by);
}

/** Return dockview's code without its unused modules and the bodies of its unused methods. @param {string} code */
function withoutMethods(code) {
  let left = replacePart(code, String.raw`^const AllModules = \[[^]*?\];`, `const AllModules = ${MODULES};`);
  left = left.replaceAll("= defineModule(", "= /* @__PURE__ */ defineModule(");
  for (const [name, methods] of Object.entries(UNUSED_METHODS))
    for (const method of wordsOf(methods))
      left = replacePart(
        left,
        String.raw`^(class ${name}\b(?:\n(?!\}$)|.)*?\n    ${method}\(.*\) \{)\n[^]*?^    \}$`,
        "$1}",
      );
  return left;
}

/**
 * Dockview without the rules and methods that the page does not use.
 * @type {import("esbuild").Plugin}
 */
const withoutUnused = {
  name: "without-unused",
  setup({ onLoad }) {
    onLoad({ filter: /dockview\.css$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replace(UNUSED, ""),
      loader: "css",
    }));
    onLoad({ filter: /dockview-core.*\.mjs$/ }, async ({ path: file }) => ({
      contents: withoutMethods(await readFile(file, "utf8")),
    }));
  },
};

const PLOTLY = "node_modules/plotly.js-basic-dist-min/plotly-basic.min.js";
/**
 * In the offline file, Plotly is embedded beside the page, if there is data to plot.
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
 * Every module of the page imports `app.js`, which has run before the other modules are loaded. So code that
 * modules share is in the file of `app.js`, which compresses better than many small files. In the same way,
 * modules that are loaded later share the code in the files of the editor and the stages.
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
      return { contents: `${imports.join(" ")} ${text}`, watchFiles: [file] };
    });
  },
};

/** @type {import("esbuild").BuildOptions & {metafile: true}} */
const options = {
  bundle: true,
  target: ["chrome110", "firefox115", "safari16.4"],
  minify: !isWatching,
  sourcemap: isWatching && "inline",
  legalComments: "none",
  // Libraries leave out their notices for developers.
  define: { process: JSON.stringify({ env: { NODE_ENV: "production" } }) },
  metafile: true,
  logLevel: "warning",
  plugins: [folderOfStyles, withoutUnused],
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
/** Whether all files have been bundled once. */
let isComplete = false;
/** The updates of the files that the server reads, one after another. */
let updates = Promise.resolve();

/**
 * Bundle once, or again after each change, which replaces the fields of the result.
 * @template {import("esbuild").BuildOptions} Options
 * @param {Options} options
 * @returns {Promise<import("esbuild").BuildResult<Options>>}
 */
async function bundle(options) {
  if (!isWatching) return build(options);
  const made = /** @type {import("esbuild").BuildResult<Options>} */ ({});
  const first = Promise.withResolvers();
  /** @type {import("esbuild").Plugin} */
  const update = {
    name: "update",
    setup({ onEnd }) {
      onEnd((result) => {
        if (result.errors.length) return;
        Object.assign(made, result);
        first.resolve(made);
        if (isComplete) updates = updates.then(complete);
      });
    },
  };
  const watched = await context({ ...options, plugins: [...(options.plugins ?? []), update] });
  await watched.watch();
  return first.promise;
}

const page = await bundle({
  ...options,
  ...modules,
  entryPoints: [
    `${source}/app.js`,
    `${source}/page.css`,
    `${source}/page/print.css`,
    `${source}/icon.svg`,
    ...panes.map((name) => `${source}/panes/${name}`),
  ],
  assetNames: "fonts/[name]-[hash]",
  loader: { ".woff2": "file", ".svg": "copy" },
  plugins: [...(options.plugins ?? []), afterFirst],
});

/** The pages that have a style sheet of their own, so that the first load has less. */
const STYLED = ["account", "compare", "glossary", "matrix", "session"];
/** These pages share no files with the main page, which would split the files of both. */
const others = await bundle({
  ...options,
  ...modules,
  entryPoints: [
    ...["compare", "matrix", "session", "glossary"].map((page) => `${source}/${page}/page.js`),
    ...STYLED.map((page) => `${source}/${page}/${page}.css`),
  ],
});

/** The theme, which is set before the page is drawn, and scripts that work beside it: a file each. */
const beside = await bundle({
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

/** The page for a file without a server: one script with everything in it, one style sheet with its fonts. */
const offline = await bundle({
  ...options,
  stdin: {
    contents: [
      "offline/recording.js",
      ...panes.map((name) => `panes/${name}`),
      "app.js",
      "page.css",
      "page/print.css",
    ]
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

/** Write the files that the server reads. */
async function complete() {
  await rm(`${output}/.fingerprint`, { force: true });
  /** Modules import modules: a browser that knows all of them asks for them at once. @type {Set<string>} */
  const firstLoad = new Set();
  const collect = (/** @type {string} */ file) => {
    if (firstLoad.has(file)) return;
    firstLoad.add(file);
    for (const { path: imported, kind } of page.metafile.outputs[`${output}/${file}`].imports) {
      if (kind === "import-statement") collect(path.relative(output, imported));
    }
  };
  for (const [file, { entryPoint = "" }] of Object.entries(page.metafile.outputs))
    if (FIRST_MODULES.includes(path.relative(source, entryPoint))) collect(path.relative(output, file));

  /** @type {Record<string, string>} */
  const manifest = {};
  for (const file of Object.keys(offline.metafile.outputs))
    manifest[`offline${path.extname(file)}`] = path.relative(output, file);
  for (const [file, { entryPoint, inputs }] of Object.entries({
    ...page.metafile.outputs,
    ...others.metafile.outputs,
    ...beside.metafile.outputs,
  })) {
    if (entryPoint) manifest[path.relative(source, entryPoint)] = path.relative(output, file);
    const [input] = Object.keys(inputs);
    if (file.endsWith(".woff2") && input)
      manifest[`fonts/${path.basename(input)}`] = path.relative(output, file);
    if (isWatching || !/\.(js|css)$/.test(file)) continue;
    let text = await readFile(file);
    if (firstLoad.has(path.relative(output, file))) {
      // Terser finds 3 % more than esbuild. Names with an underscore in front are private to dockview, which is in
      // one file alone.
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
  if (isWatching) console.log("Bundled the page.");
}

await complete();
isComplete = true;
if (isWatching) process.stdin.on("end", () => process.exit()).resume();
