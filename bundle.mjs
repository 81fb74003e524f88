/**
 * Bundle the page: `explorer/static/*.js` and its packages go in, `explorer/static/dist/` comes out.
 *
 * Every file name holds the hash of its content, so that browsers may keep it for ever;
 * `manifest.json` says which file answers to which name. Texts are stored compressed beside themselves.
 */
import { build } from "esbuild";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const source = "explorer/static";
const output = `${source}/dist`;
const panes = (await readdir(`${source}/panes`)).filter((name) => name.endsWith(".js"));

await rm(output, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [
    `${source}/theme.js`,
    `${source}/app.js`,
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
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["chrome110", "firefox115", "safari16.4"],
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

/** @type {Record<string, string>} */
const manifest = {};
for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint) manifest[path.relative(source, entryPoint)] = path.relative(output, file);
  if (!/\.(js|css)$/.test(file)) continue;
  const text = await readFile(file);
  await writeFile(`${file}.gz`, gzipSync(text, { level: 9 }));
  await writeFile(
    `${file}.br`,
    brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}
await writeFile(`${output}/manifest.json`, JSON.stringify(manifest, null, 1));
