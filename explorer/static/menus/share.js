/**
 * The files of a result, and the commands of the Share menu.
 *
 * @import { Result } from "../core/result.js"
 */
import { api } from "../core/api.js";
import { register, registerFamily } from "../core/commands.js";
import { byId, make, toast } from "../core/dom.js";
import { size } from "../core/format.js";
import { isFile } from "../core/host.js";
import { hueClass } from "../core/stages.js";
import { store } from "../core/store.js";

export const NOTHING = "Compile something first: there is nothing to share yet.";

/** @typedef {{path: string, title: string, more: string, file: string, hue?: string}} Download */

/** The result that is shared. */
export const shown = () => store.state.failure ?? store.state.result;

/**
 * The address of a result with exactly the view that is on screen.
 * @param {Result} result
 * @param {string} [fragment]
 */
export function permalink(result, fragment = location.hash) {
  // Chats cut off punctuation at the end of a link.
  return `${location.origin}/k/${result.id}${fragment.replace(/\*$/, "%2A")}`;
}

/** Everything at once, in the shapes there are. @param {Result} result @returns {Download[]} */
export function wholeDownloads({ id, document: { kernel } }) {
  const name = `${kernel ?? "kernel"}-${id}`;
  return [
    {
      path: "export.html",
      title: "HTML file",
      more: "this page with everything, works offline",
      file: `${name}.html`,
    },
    { path: "archive.zip", title: "Zip", more: "result.json and all texts", file: `${name}.zip` },
    { path: "", title: "result.json", more: "everything but the texts", file: "result.json" },
  ];
}

/** The texts one by one. @param {Result} result @returns {Download[]} */
export function textDownloads({ document: { kernel, stages } }) {
  const name = kernel ?? "kernel";
  return [
    { path: "source", title: "Source", more: "Python", file: `${name}.py` },
    ...stages.map(({ name: stage, title, bytes }) => ({
      path: `stages/${stage}?raw=1`,
      title,
      more: size(bytes),
      file: `${name}.${stage}`,
      hue: `of-stage ${hueClass(stage)}`,
    })),
  ];
}

/** @param {() => Promise<HTMLElement>} open opens the menu */
export function startShareCommands(open) {
  const group = "Share";
  const press = (/** @type {string} */ title) => async () => {
    if (!shown()) return toast(NOTHING);
    const buttons = [...(await open()).querySelectorAll("button")];
    return buttons.find(({ textContent }) => textContent?.trim() === title)?.click();
  };
  /** @param {(result: Result) => Download[]} list @param {(download: Download) => string} nameOf */
  const downloads = (list, nameOf) =>
    registerFamily(() => {
      const result = shown();
      return (result ? list(result) : []).map((each) => ({
        name: `download:${nameOf(each)}`,
        title: `Download ${each.title}`,
        group,
        run: () => make("a", { href: api.url(result?.id ?? "", each.path), download: each.file }).click(),
      }));
    });
  const title = isFile ? "Save a text" : "Share";
  register([{ name: "share", title, group, run: () => byId("share-button").click() }]);
  if (!isFile) {
    register([
      { name: "copy-link", title: "Copy the link to this view", group, run: press("Copy link") },
      { name: "copy-embed", title: "Copy the HTML that embeds this view", group, run: press("Copy HTML") },
      {
        name: "make-exercise",
        title: "Make an exercise of this result",
        group,
        run: press("Make an exercise …"),
      },
    ]);
    downloads(wholeDownloads, ({ file }) => file);
  }
  downloads(textDownloads, ({ path }) => path);
}
