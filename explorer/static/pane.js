/** What panes share that ask the server about the finished result, and draw the answer as wide as they are. */
import { ApiError } from "./api.js";
import { make } from "./dom.js";
import { store } from "./store.js";

/**
 * A pane of one answer about the result that is shown: asked for once, drawn again when the width or the state
 * changes. Who extends it says what to ask, and how to draw what came.
 *
 * @template Answer
 */
export class AnswerPane extends HTMLElement {
  state = "";
  /** @type {(() => void)[]} */
  watches = [];
  /** the compilation that is shown, or being asked about */
  asked = "";
  /** @type {Answer | null} */
  answer = null;
  /** how wide it was drawn */
  width = 0;
  resized = new ResizeObserver(() => {
    if (this.answer && Math.abs(this.clientWidth - this.width) > 1) this.redraw(this.answer);
  });

  /** @param {{empty: string, waiting: string}} words for a pane without a result, and without an answer yet */
  constructor(words) {
    super();
    this.words = words;
  }

  get paneState() {
    return this.state;
  }

  /** @param {string} state */
  set paneState(state) {
    this.state = state;
    if (this.answer) this.follow(this.answer);
  }

  connectedCallback() {
    this.resized.observe(this);
    this.watches = [store.watch(["result"], () => void this.choose()), store.watch(["hovered", "pinned"], () => this.light())];
  }

  disconnectedCallback() {
    this.resized.disconnect();
    for (const end of this.watches) end();
  }

  /** Ask about the result that is shown now. */
  async choose() {
    const { result } = store.state;
    if (!result?.finished) {
      this.asked = "";
      this.answer = null;
      this.say(result ? this.words.waiting : this.words.empty);
      return;
    }
    if (this.asked === result.id) return;
    this.asked = result.id;
    this.answer = null;
    this.say(this.words.waiting);
    try {
      const answer = await this.load(result.id);
      if (this.asked !== result.id) return;
      this.answer = answer;
      this.redraw(answer);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.asked !== result.id) return;
      this.asked = "";
      this.say(error.problem.title, error.problem.detail);
      this.firstElementChild?.append(make("button", { type: "button", class: "button", onclick: () => void this.choose() }, "Try again"));
    }
  }

  /** @param {Answer} answer */
  redraw(answer) {
    this.width = this.clientWidth;
    this.draw(answer);
  }

  /** Say why nothing is drawn. @param {...string} words */
  say(...words) {
    this.replaceChildren(make("div", { class: "empty" }, ...words.map((each) => make("p", {}, each))));
  }

  /** Put the state into the address, and show it. @param {string} state */
  keep(state) {
    this.dispatchEvent(new CustomEvent("pane-state", { bubbles: true, detail: state }));
    this.paneState = state;
  }

  /** Ask the server. @param {string} _id of the compilation @returns {Promise<Answer>} */
  load(_id) {
    throw new Error(`${this.localName} does not say what it asks for.`);
  }

  /** Draw everything. @param {Answer} _answer */
  draw(_answer) {
    throw new Error(`${this.localName} does not say how it is drawn.`);
  }

  /** Show what the state asks for. @param {Answer} answer */
  follow(answer) {
    this.redraw(answer);
  }

  /** Mark what comes from the lit source lines. */
  light() {}
}
