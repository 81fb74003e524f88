/**
 * The Share menu: the link to this very view, the snippet that embeds it, and the result as files.
 *
 * @import { Result } from "./result.js"
 */
import { api } from "./api.js";
import { register, registerFamily } from "./commands.js";
import { byId, make, toast } from "./dom.js";
import { size, targetTitle } from "./format.js";
import { isFile } from "./host.js";
import { menu } from "./popover.js";
import { hueClass } from "./stages.js";
import { store } from "./store.js";

const EMBED_HEIGHT_PX = 560;
const NOTHING = "Compile something first: there is nothing to share yet.";

/** @typedef {{path: string, title: string, more: string, file: string, hue?: string}} Download */

const shown = () => store.state.failure ?? store.state.result;

/** The address of a result with exactly the view that is on screen. @param {Result} result @param {string} [fragment] */
export function permalink(result, fragment = location.hash) {
  // Where a link ends, chats cut off what they take for punctuation.
  return `${location.origin}/k/${result.id}${fragment.replace(/\*$/, "%2A")}`;
}

/** HTML for another page that shows this view in a frame. @param {Result} result @param {boolean} withSource */
function embedSnippet({ id, document: { kernel, target, triton } }, withSource) {
  const fragment = location.hash.replace(/^#/, "").split("&").filter((part) => part && part !== "read");
  if (withSource) fragment.push("source");
  const frame = make("iframe", {
    src: `${location.origin}/embed/${id}${fragment.length ? `#${fragment.join("&")}` : ""}`,
    title: `${kernel ?? "Kernel"}, ${targetTitle(target)}, Triton ${triton}`,
    width: "100%", height: EMBED_HEIGHT_PX, loading: "lazy",
  });
  frame.style.border = "0";
  return frame.outerHTML;
}

/** Everything at once, in the shapes there are. @param {Result} result @returns {Download[]} */
function wholeDownloads({ id, document: { kernel } }) {
  const name = `${kernel ?? "kernel"}-${id}`;
  return [
    { path: "export.html", title: "HTML file", more: "this page with everything, works offline", file: `${name}.html` },
    { path: "archive.zip", title: "Zip", more: "result.json and all texts", file: `${name}.zip` },
    { path: "", title: "result.json", more: "everything but the texts", file: "result.json" },
  ];
}

/** The texts one by one. @param {Result} result @returns {Download[]} */
function textDownloads({ document: { kernel, stages } }) {
  const name = kernel ?? "kernel";
  return [
    { path: "source", title: "Source", more: "Python", file: `${name}.py` },
    ...stages.map(({ name: stage, title, bytes }) => ({
      path: `stages/${stage}?raw=1`, title, more: size(bytes), file: `${name}.${stage}`, hue: hueClass(stage),
    })),
  ];
}

/** @param {Result} result @param {Download} download */
function link({ id }, { path, title, more, file, hue = "" }) {
  return make("a", { class: `entry ${hue}`, href: api.url(id, path), download: file }, make("span", {}, title), make("small", {}, more));
}

/** @param {Download} download */
function fetchFile(download) {
  const result = shown();
  if (result) link(result, download).click();
}

export function startShare() {
  const popover = menu("share-menu", "share-button");
  popover.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") draw(popover);
  });
  popover.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("a")) popover.hidePopover();
  });
  startShareCommands(popover);
}

/** @param {HTMLElement} popover */
function draw(popover) {
  const result = shown();
  if (!result) {
    popover.replaceChildren(make("p", { class: "hint" }, NOTHING));
    return;
  }
  const entries = (/** @type {Download[]} */ downloads) => downloads.map((each) => link(result, each));
  const files = isFile ? entries(textDownloads(result)) : [...entries(wholeDownloads(result)), make("hr"), ...entries(textDownloads(result))];
  popover.replaceChildren(
    ...(isFile ? [] : [linkSection(popover, result), embedSection(popover, result)]),
    make("section", { class: "share-files", "aria-label": "Files" }, !isFile && make("h2", {}, "Files"), ...files),
  );
}

/** @param {HTMLElement} popover @param {Result} result */
function linkSection(popover, result) {
  const field = make("input", { type: "text", readonly: true, id: "share-link", "aria-label": "Link to this view", value: permalink(result) });
  return make(
    "section",
    {},
    make("h2", {}, "Link to this view"),
    make("div", { class: "share-row" }, copyButton(popover, field, "Copy link", "Link to this view copied."), field),
    store.state.edited && make("p", { class: "hint" }, "It shows the last compilation, without the edits since."),
  );
}

/** @param {HTMLElement} popover @param {Result} result */
function embedSection(popover, result) {
  const field = make("textarea", { readonly: true, rows: "3", id: "share-embed", "aria-label": "HTML that embeds this view", spellcheck: "false" });
  field.value = embedSnippet(result, false);
  const box = make("input", { type: "checkbox", onchange: () => { field.value = embedSnippet(result, box.checked); } });
  return make(
    "section",
    {},
    make("h2", {}, "Embed in a page"),
    field,
    make("div", { class: "share-row" }, copyButton(popover, field, "Copy HTML", "HTML to embed this view copied."), make("label", { class: "check" }, box, "with the source")),
  );
}

/** @param {HTMLElement} popover @param {HTMLInputElement | HTMLTextAreaElement} field @param {string} title @param {string} done */
function copyButton(popover, field, title, done) {
  const onclick = async () => {
    if (await copied(field)) {
      popover.hidePopover();
      toast(done);
    } else {
      toast("This browser does not let the page copy. The text is selected: press Ctrl+C.");
    }
  };
  return make("button", { type: "button", class: "button primary", onclick: () => void onclick() }, title);
}

/**
 * Copy what a field holds. Where the browser has no clipboard for this page (plain HTTP, or refused), the old way
 * is tried, and leaves the text selected.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}

/** @param {HTMLElement} popover */
function startShareCommands(popover) {
  const press = (/** @type {string} */ title) => () => {
    if (!shown()) return toast(NOTHING);
    popover.showPopover();
    [...popover.querySelectorAll("button")].find((button) => button.textContent === title)?.click();
  };
  const group = "Share";
  if (isFile) {
    register([{ name: "share", title: "Save a text", group, run: () => byId("share-button").click() }]);
  } else {
    register([
      { name: "share", title: "Share", group, run: () => byId("share-button").click() },
      { name: "copy-link", title: "Copy the link to this view", group, run: press("Copy link") },
      { name: "copy-embed", title: "Copy the HTML that embeds this view", group, run: press("Copy HTML") },
    ]);
    registerFamily(() => {
      const result = shown();
      return (result ? wholeDownloads(result) : []).map((each) => ({
        name: `download:${each.file}`, title: `Download ${each.title}`, group, run: () => fetchFile(each),
      }));
    });
  }
  registerFamily(() => {
    const result = shown();
    return (result ? textDownloads(result) : []).map((each) => ({
      name: `download:${each.path}`, title: `Download ${each.title}`, group, run: () => fetchFile(each),
    }));
  });
}
