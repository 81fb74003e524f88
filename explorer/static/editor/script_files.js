/** The tabs above the editor: the files of the paste, with actions for the file in front. */
import { registerFamily } from "../core/commands.js";
import { scrollSideways, toast } from "../core/dom.js";
import { canCompile } from "../core/host.js";
import { store } from "../core/store.js";
import { html, nothing, render } from "../core/template.js";
import { freshDraft } from "../core/fresh_draft.js";
import { changeFiles, choose } from "../launch/edit.js";
import {
  freePath,
  movedScript,
  pathProblem,
  pathsOf,
  renamedFile,
  SCRIPT_NAME,
  withFiles,
  withoutFile,
} from "./script_choice.js";

/** The path of the file in front, as the draft names it. */
export function openPath() {
  const { draft, openFile } = store.state;
  return openFile in draft.files ? openFile : draft.path;
}

/** Bring a file to the front. @param {string} path "" or the script's: the script */
export function openFile(path) {
  const { draft } = store.state;
  const shown = path in draft.files ? path : "";
  if (shown !== store.state.openFile) store.update({ openFile: shown });
}

/** The files of the paste as tabs, if there are several. */
export class ScriptFiles {
  /** @param {() => void} focusEditor */
  constructor(focusEditor) {
    this.focusEditor = focusEditor;
    this.element = document.createElement("div");
    this.element.className = "script-files";
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Files of the script");
    /** The file that is being renamed; null: none. @type {string | null} */
    this.renaming = null;
    store.watch(["draft", "openFile", "reading"], () => this.draw());
    if (canCompile) this.registerCommands();
  }

  registerCommands() {
    /** @param {string} name @param {string} title @param {() => void} run @param {string[]} [keys] */
    const command = (name, title, run, keys) => ({
      name,
      title,
      group: "Files",
      run,
      ...(keys ? { keys } : {}),
    });
    registerFamily(() => {
      if (store.state.reading) return [];
      const { draft } = store.state;
      const isAlone = Object.keys(draft.files).length === 0;
      const more = [
        command("file-rename", "Rename the file", () => this.rename(openPath())),
        command("file-script", "Make the file the script", () => this.makeScript(openPath())),
        command("file-remove", "Remove the file", () => this.remove(openPath())),
        command("file-next", "Next file", () => this.step(1), ["Alt PageDown"]),
        command("file-previous", "Previous file", () => this.step(-1), ["Alt PageUp"]),
      ];
      return [
        command("file-add", "Add a file", () => this.add()),
        command("files-open", "Open files or a zip …", () => choosing("files")),
        command("folder-open", "Open a folder …", () => choosing("folder")),
        ...(isAlone ? [] : more),
      ];
    });
  }

  draw() {
    const { draft, reading } = store.state;
    const { path, files } = draft;
    const isAlone = Object.keys(files).length === 0;
    this.element.hidden = isAlone;
    if (isAlone) {
      this.renaming = null;
      render(nothing, this.element);
      return;
    }
    const shown = openPath();
    const isEditable = canCompile && !reading;
    const tabs = pathsOf(draft).map((each) => this.tab(each, each === shown, each === path));
    render(
      html`<div class="file-tabs" role="tablist" aria-label="Files" @keydown=${(/** @type {KeyboardEvent} */ event) => this.key(event)}>${tabs}</div>
        ${
          isEditable
            ? html`<button type="button" class="tool" title="Add a file" aria-label="Add a file" @click=${() => this.add()}>+</button>
              ${
                shown === path
                  ? nothing
                  : html`<button type="button" class="button" @click=${() => this.makeScript(shown)}>Make it the script</button>`
              }
              <button type="button" class="tool" title="Rename the file (F2)" aria-label=${`Rename ${shown}`} @click=${() => this.rename(shown)}>✎</button>
              <button type="button" class="tool" title="Remove the file (Delete on its tab)" aria-label=${`Remove ${shown}`} @click=${() => this.remove(shown)}>×</button>`
            : nothing
        }`,
      this.element,
    );
    const row = this.element.querySelector(".file-tabs");
    const active = this.element.querySelector("[aria-selected=true]");
    if (row && active) scrollSideways(row, active);
  }

  /** @param {string} path @param {boolean} isShown @param {boolean} isScript */
  tab(path, isShown, isScript) {
    if (this.renaming === path)
      return html`<input
        type="text"
        class="file-name"
        aria-label=${`New path of ${path}`}
        spellcheck="false"
        size=${Math.max(12, path.length)}
        .value=${path}
        @keydown=${(/** @type {KeyboardEvent} */ event) => this.nameKey(event, path)}
        @blur=${(/** @type {Event} */ event) => this.finishRename(path, event.target)}
      />`;
    return html`<button
      type="button"
      role="tab"
      class="file-tab"
      data-path=${path}
      aria-selected=${String(isShown)}
      aria-controls="editor"
      tabindex=${isShown ? 0 : -1}
      title=${isScript ? `${path}: the script, which is executed` : `${path}: the script may import it`}
      @click=${() => openFile(path)}
      @dblclick=${() => this.rename(path)}
      >${path}${isScript ? html` <small>script</small>` : nothing}</button
    >`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!(event.target instanceof HTMLElement) || event.target.getAttribute("role") !== "tab") return;
    const paths = pathsOf(store.state.draft);
    const last = paths.length - 1;
    const at = paths.indexOf(openPath());
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      openFile(paths[(to + paths.length) % paths.length] ?? "");
      this.focusTab();
    } else if (event.key === "F2") this.rename(openPath());
    else if (event.key === "Delete") this.remove(openPath());
    else if (event.key === "ArrowDown") this.focusEditor();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  focusTab() {
    /** @type {HTMLElement | null} */ (this.element.querySelector("[aria-selected=true]"))?.focus();
  }

  /** @param {number} step */
  step(step) {
    const paths = pathsOf(store.state.draft);
    openFile(paths[(paths.indexOf(openPath()) + step + paths.length) % paths.length] ?? "");
    this.focusEditor();
  }

  add() {
    const { draft } = store.state;
    const path = freePath(draft);
    changeFiles(withFiles(draft, { [path]: "" }), path);
    this.rename(path);
  }

  /** @param {string} path */
  rename(path) {
    if (!canCompile || store.state.reading) return;
    openFile(path);
    this.renaming = path;
    this.draw();
    const input = this.element.querySelector("input");
    input?.focus();
    input?.setSelectionRange(path.lastIndexOf("/") + 1, path.length - ".py".length);
  }

  /** @param {KeyboardEvent} event @param {string} path */
  nameKey(event, path) {
    event.stopPropagation();
    if (event.key === "Escape") {
      this.renaming = null;
      this.draw();
      this.focusTab();
    } else if (event.key === "Enter" && this.finishRename(path, event.target)) {
      // The editor gets the focus next and must not receive this Enter.
      event.preventDefault();
      this.focusEditor();
    }
  }

  /** @param {string} path @param {EventTarget | null} input @returns {boolean} whether the name is taken */
  finishRename(path, input) {
    if (this.renaming !== path || !(input instanceof HTMLInputElement)) return false;
    const { draft } = store.state;
    const to = input.value.trim();
    const problem = pathProblem(draft, path, to);
    if (problem) {
      toast(problem);
      input.setAttribute("aria-invalid", "true");
      if (document.activeElement !== input) {
        this.renaming = null;
        this.draw();
      }
      return false;
    }
    this.renaming = null;
    if (to === path) this.draw();
    else changeFiles(renamedFile({ ...draft, path: draft.path || SCRIPT_NAME }, path, to), to);
    return true;
  }

  /** @param {string} path */
  remove(path) {
    const { draft } = store.state;
    const paths = pathsOf(draft);
    const next = paths[paths.indexOf(path) + 1] ?? paths[paths.indexOf(path) - 1] ?? "";
    changeFiles(withoutFile(draft, path), next);
    if (Object.keys(store.state.draft.files).length) this.focusTab();
    else this.focusEditor();
  }

  /**
   * The new script has other kernels, so that the choices for the previous script do not apply.
   * @param {string} path
   */
  makeScript(path) {
    if (path === store.state.draft.path) return;
    const { target, triton } = store.state.draft;
    const moved = movedScript(store.state.draft, path);
    store.update({ openFile: "" });
    choose(freshDraft(moved.source, target, { triton, path: moved.path, files: moved.files }));
    this.focusEditor();
  }
}

/** Let the user choose files or a folder, and add them. @param {"files" | "folder"} what */
function choosing(what) {
  const input = document.createElement("input");
  input.type = "file";
  if (what === "folder") input.webkitdirectory = true;
  else {
    input.multiple = true;
    input.accept = ".py,.zip,.ipynb,.md,.diff,.patch,.ndjson,.log,.txt,.gz,.cubin";
  }
  input.addEventListener("change", () => {
    void import("./take_files.js").then(({ addFiles }) => addFiles([...(input.files ?? [])]));
  });
  input.click();
}

/**
 * Take files that are dropped on the editor. Text is left to the editor.
 * @param {DragEvent} event @returns {boolean} whether there are files
 */
export function dropFiles(event) {
  const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === "file");
  // The browser clears the items when the event ends.
  const entries = items
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return false;
  event.preventDefault();
  void import("./take_files.js").then(({ replaceByEntries }) => replaceByEntries(entries));
  return true;
}
