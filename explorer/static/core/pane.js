/**
 * The base class of panes: `<pane-NAME>`, a Lit element whose template is drawn into the document itself.
 *
 * @import { PropertyDeclarations, ReactiveControllerHost } from "lit"
 * @import { State } from "./store.js"
 * @import { Problem } from "./types.js"
 */
import { initialState, Task, TaskStatus } from "@lit/task";
import { LitElement } from "lit";
import { ApiError } from "./api.js";
import { isLost } from "./modules.js";
import { store } from "./store.js";
import { html, nothing } from "./template.js";

/**
 * A pane. It names the parts of the store that it draws (`slices`) and returns a template (`render`). Lit
 * calls `render` again when one of them or a reactive property has changed, and keeps unchanged nodes.
 *
 * Reactive properties are declared in `static properties` and set in the constructor: a class field of the
 * same name would hide them.
 */
export class Pane extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = { paneState: { attribute: false } };

  /** The parts of the store whose changes are drawn. @type {(keyof State)[]} */
  static slices = ["result"];

  constructor() {
    super();
    /** The text behind the pane's name in the address. */
    this.paneState = "";
    const { slices } = /** @type {typeof Pane} */ (this.constructor);
    follow(this, slices, () => this.requestUpdate());
  }

  /** Render without a shadow root, so that the page's style sheet applies. @override */
  createRenderRoot() {
    return this;
  }

  /** Put a state into the address, and show it. @param {string} state */
  keepState(state) {
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: state }));
    this.paneState = state;
  }

  /** Open a pane beside this one. @param {string} address of the pane */
  openBeside(address) {
    this.dispatchEvent(new CustomEvent("pane-beside", { bubbles: true, detail: address }));
  }
}

/**
 * Call `listener` when an element is connected, and after every change of parts of the store while it is connected.
 * @param {ReactiveControllerHost} host
 * @param {(keyof State)[]} slices
 * @param {() => void} listener
 */
export function follow(host, slices, listener) {
  /** @type {() => void} */
  let end = () => {};
  host.addController({
    hostConnected: () => {
      end = store.watch(slices, listener);
    },
    hostDisconnected: () => end(),
  });
}

/** Sentences in place of the content. @param {...string} words a paragraph each */
export function emptyPane(...words) {
  return html`<div class="empty">${words.map((each) => html`<p>${each}</p>`)}</div>`;
}

/** The values of a document about the shown result: its ID. @returns {[string] | null} null: it has no document yet, or never */
export function finishedId() {
  const { result } = store.state;
  return result?.finished && !isProgram() ? [result.id] : null;
}

/**
 * Say why a pane about a kernel is empty.
 * @param {string} first the words without a result
 * @param {string} [unfinished] the words until the compilation is finished
 */
export function whyEmpty(first, unfinished = "") {
  if (isProgram()) return "The program itself is not compiled. Open its kernels to compile them.";
  return store.state.result ? unfinished : first;
}

/** Whether the result is of a program with `torch.compile`, which has kernels and is not compiled itself. */
const isProgram = () => store.state.result?.document.status === "kernels_found";

/**
 * A document of the API that an element shows. When the element is drawn, the document is fetched if the values that it
 * depends on have changed. It is kept while the element is not in the page.
 *
 * @template {readonly unknown[]} Values
 * @template Answer
 */
export class Loaded {
  /**
   * @param {ReactiveControllerHost} host
   * @param {() => readonly [...Values] | null} valuesOf returns the values that the document depends on; null: there is
   *   nothing to fetch
   * @param {(...values: Values) => Promise<Answer>} load
   */
  constructor(host, valuesOf, load) {
    this.host = host;
    /** @type {Task<readonly unknown[], Answer>} */
    this.task = new Task(host, {
      args: () => valuesOf() ?? NOTHING_TO_FETCH,
      task: (values) =>
        values === NOTHING_TO_FETCH
          ? initialState
          : load(.../** @type {Values} */ (/** @type {unknown} */ (values))),
      onError: (error) => {
        if (!(error instanceof ApiError || isLost(error))) reportError(error);
      },
    });
  }

  /** The document for the current values; null: it has not arrived. @returns {Answer | null} */
  get answer() {
    return this.task.status === TaskStatus.COMPLETE ? (this.task.value ?? null) : null;
  }

  /** The last document, for any values; null: none has arrived. @returns {Answer | null} */
  get last() {
    const value = /** @type {Answer | typeof initialState | undefined} */ (this.task.value);
    return value === initialState ? null : (value ?? null);
  }

  /**
   * Wait until the current document is drawn, so that keys pressed meanwhile apply to it and not to the previous
   * document.
   * @returns {Promise<Answer | null>} null: there is no document
   */
  async drawn() {
    await this.host.updateComplete;
    await this.task.taskComplete.catch(() => undefined);
    await this.host.updateComplete;
    return this.answer;
  }

  /** Fetch it again. */
  retry() {
    void this.task.run();
  }

  /**
   * Draw the document, or why it is missing.
   * @param {object} states
   * @param {string} [states.empty] shown if there is nothing to fetch
   * @param {string | (() => unknown)} [states.waiting] shown until the document has arrived
   * @param {(answer: Answer) => unknown} states.ready
   * @param {(problem: Problem) => unknown} [states.failed] replaces the problem and a button to retry
   */
  render({ empty, waiting, ready, failed }) {
    return this.task.render({
      initial: () => (empty ? emptyPane(empty) : nothing),
      pending: () => {
        const { last } = this;
        // While a source is typed, the previous document stays until the next one has arrived.
        if (last !== null && store.state.result?.isLive) return ready(last);
        if (typeof waiting === "function") return waiting();
        return waiting ? emptyPane(waiting) : nothing;
      },
      complete: ready,
      error: (error) => {
        const problem = error instanceof ApiError ? error.problem : UNEXPECTED;
        return failed ? failed(problem) : this.problem(problem);
      },
    });
  }

  /** @param {Problem} problem */
  problem({ title, detail }) {
    return html`<div class="empty">
      <p>${title}</p>
      <p>${detail}</p>
      <button type="button" class="button" @click=${() => this.retry()}>Try again</button>
    </div>`;
  }
}

/** @type {readonly unknown[]} */
const NOTHING_TO_FETCH = [];
/** @type {Problem} */
const UNEXPECTED = {
  title: "The page failed to show this",
  kind: "unexpected",
  detail: "The browser's console has the details. Reload the page.",
};
