/**
 * `<tour-card>`: a step of a tour, above the panes.
 *
 * A step with a question opens its panes only after an answer. The numbers of its claims are read from the result that
 * the panes show, also after the reader has changed the kernel.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { Layout } from "../core/view.js"
 * @import { CheckedClaim, Tour, TourStep, TourStepDocument } from "../core/types.js"
 */
import { ApiError, get } from "../core/api.js";
import { registerFamily } from "../core/commands.js";
import { canCompile } from "../core/host.js";
import { plural } from "../core/format.js";
import { Loaded } from "../core/pane.js";
import { TOUR, pin, putCursor, unpin } from "../core/selection.js";
import { store } from "../core/store.js";
import { html, nothing, prose } from "../core/template.js";
import { groupsOf, parseLayout } from "../core/view.js";
import { marked } from "../glossary/marks.js";
import { openResult } from "../launch/edit.js";
import { LessonCard, draftOfLaunch, firstResult, openDraft } from "./lesson_card.js";
import { timesTable } from "./times_table.js";
import { tourRows } from "./tour_rows.js";

export class TourCard extends LessonCard {
  static kind = "tour";
  static title = "Tour";

  /** @type {PropertyDeclarations} */
  static properties = {
    tour: { state: true },
    place: { state: true },
    isTold: { state: true },
    own: { state: true },
    isElsewhere: { state: true },
  };

  /** The results of all steps, at the end of the tour: a saved tour contains them. */
  results = new Loaded(
    this,
    () => {
      const { result } = store.state;
      return canCompile && this.isTold && this.isLast && result?.finished
        ? [this.place.name, result.document.triton, result.id]
        : null;
    },
    (name, triton, _id) => storedResults(name, triton),
  );

  /** The tour after this one, at its end. */
  following = new Loaded(
    this,
    () => (canCompile && this.isTold && this.isLast ? [this.place.name] : null),
    async (name) => {
      const rows = await tourRows();
      return rows[rows.findIndex((row) => row.name === name) + 1] ?? null;
    },
  );

  found = new Loaded(
    this,
    () => {
      const { result } = store.state;
      const isComplete = result?.finished && result.document.status === "complete";
      return isComplete && this.tour && this.isTold
        ? [result.id, `${this.place.name}/${this.place.number}`]
        : null;
    },
    /** @returns {Promise<TourStepDocument>} */
    (id, step) => get(`/compilations/${id}/tours/${step}`),
  );

  constructor() {
    super();
    /** @type {Tour | null} */
    this.tour = null;
    /** The last step that the address named. */
    this.shown = "";
    /** The shown step. Until the next tour has arrived, it is a step of the previous tour. */
    this.place = { name: "", number: 1 };
    /**
     * The answers of the reader in this tour, by the number of the step; null: skipped.
     * @type {Map<number, number | null>}
     */
    this.answers = new Map();
    /** Whether the panes show the place of the step. */
    this.isTold = false;
    /** The numbers of the claims in the result of the tour itself. @type {(number | null)[] | null} */
    this.own = null;
    /** Whether the result of the step is not available. */
    this.isElsewhere = false;
    /** Whether the next numbers belong to the result of the unchanged kernel. */
    this.awaitsOwn = false;
  }

  /** @returns {TourStep | undefined} */
  get step() {
    return this.tour?.steps[this.place.number - 1];
  }

  /** Whether the kernel of the step itself was not compiled. */
  get hasFailed() {
    const { result, edited } = store.state;
    return this.awaitsOwn && !edited && result?.finished && result.document.status === "failed";
  }

  get isLast() {
    return this.place.number === this.tour?.steps.length;
  }

  /** @override */
  disconnectedCallback() {
    super.disconnectedCallback();
    store.update({ secondCursor: null });
  }

  /** @override */
  async show() {
    const { address } = this;
    if (address === null || address === this.shown) return;
    this.shown = address;
    const place = placeOf(address);
    const { name } = place;
    if (this.tour?.name !== name) {
      try {
        this.tour = /** @type {Tour} */ (await get(`/tours/${encodeURIComponent(name)}`));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        store.update({ problem: error.problem, lesson: "" });
        return;
      }
      this.answers.clear();
    }
    // The reader has gone on meanwhile.
    if (address !== this.shown) return;
    this.place = place;
    this.own = null;
    this.isTold = false;
    // A link to a result with a step shows both as they were.
    const isOpened = store.state.result !== null || location.pathname !== "/";
    if (!this.step?.question || this.answers.has(this.place.number)) await this.tell();
    else if (!isOpened) await this.compile();
    await this.scrollToSight();
  }

  /** Compile the kernel of the step, unless the page shows it. */
  async compile() {
    const { step } = this;
    if (!step) return;
    if (!canCompile) return this.openStored();
    const wanted = await draftOfLaunch(step.launch);
    if (wanted && step === this.step) openDraft(wanted);
  }

  /** On a page without compilation, open the stored result of the step. */
  async openStored() {
    const { name, number } = this.place;
    const result = await firstResult();
    const id = (await storedResults(name, result.document.triton))[number - 1];
    this.isElsewhere = !id;
    if (id && id !== result.id) await openResult(id);
  }

  /** Show the place of the step in the panes. */
  async tell() {
    const { step } = this;
    if (!step) return;
    this.awaitsOwn = true;
    await this.compile();
    // The reader has gone on meanwhile.
    if (step !== this.step) return;
    const layout = /** @type {Layout} */ (parseLayout(step.panes));
    this.dock?.change(layout);
    // A narrow window has all panes as tabs. The stage of the place comes to the front, unless the step begins with
    // a pane that is no stage.
    const [first = ""] = groupsOf(layout)[0]?.panes ?? [];
    const place = `stage:${step.look_at.stage}`;
    this.dock?.open(first.startsWith("stage:") && step.panes.includes(place) ? place : first);
    this.isTold = true;
  }

  /** @override */
  updated() {
    const { answer } = this.found;
    const isOther = this.isElsewhere || store.state.edited || store.state.run;
    if (!answer || !this.awaitsOwn || isOther) return;
    this.awaitsOwn = false;
    this.own = answer.claims.map(({ found }) => found);
    const { place, beside } = answer;
    if (place) putCursor(place.stage, place.line, TOUR, beside);
    // The line of the step before does not stay.
    const line = place?.source_line;
    if (!line) unpin();
    else if (!store.state.pinned.includes(line)) pin([line], TOUR);
  }

  /** Go to another step. @param {number} by */
  go(by) {
    // From the step of the address: who presses a key twice does not wait until the first one is shown.
    const { name, number } = placeOf(this.address ?? "");
    const { tour } = this;
    const next = number + by;
    if (tour?.name === name && next >= 1 && next <= tour.steps.length)
      store.update({ lesson: `tour=${name}.${next}` });
  }

  /** Store the answer of the reader, and show the place of the step. @param {number | null} answer */
  async storeAnswer(answer) {
    this.answers.set(this.place.number, answer);
    await this.tell();
    await this.scrollToSight();
  }

  /** @override */
  render() {
    const { step, tour } = this;
    this.hidden = !step;
    if (!step || !tour) return nothing;
    const { number } = this.place;
    const { isLast } = this;
    // The title may say what the question asks.
    const title = step.question && !this.isTold ? "" : `: ${step.title}`;
    const words = `Step ${number} of ${tour.steps.length}${title}`;
    return html`${this.head(tour.title, words, "Leave the tour")}
      <div class="lesson-body">
        ${step.question ? this.question(step) : nothing}
        ${this.isTold ? this.told(step) : nothing}
      </div>
      <footer class="lesson-steps">
        <button type="button" class="button small" ?disabled=${number === 1} aria-keyshortcuts="<" @click=${() => this.go(-1)}>Back</button>
        <button
          type="button"
          class="button small ${this.isTold && !(isLast && this.following.answer) ? "primary" : ""}"
          aria-keyshortcuts=">"
          @click=${() => (isLast ? this.close() : this.go(1))}
        >${isLast ? "End" : "Next"}</button>
        ${isLast ? this.followingLink() : nothing}
        ${isLast ? this.saveLink(tour) : nothing}
      </footer>`;
  }

  followingLink() {
    const row = this.following.answer;
    if (!row) return nothing;
    return html`<button type="button" class="button small primary" title=${row.question}
      @click=${() => store.update({ lesson: `tour=${row.name}.1` })}>Next tour: ${row.title}</button>`;
  }

  /** @param {Tour} tour */
  saveLink({ name }) {
    const { triton } = store.state.result?.document ?? {};
    const results = this.results.answer;
    if (!results) return nothing;
    const missing = results.filter((id) => !id).length;
    if (missing)
      return html`<button type="button" class="button small" aria-disabled="true"
        title="${plural(missing, "step")} without a result: open each first">Save this tour as a file</button>`;
    return html`<a class="button small" download href="/api/v1/tours/${name}/export.html?triton=${triton}"
      title="The tour and its results as a page that works without a server">Save this tour as a file</a>`;
  }

  /** @param {TourStep} step */
  question(step) {
    const question = /** @type {NonNullable<TourStep["question"]>} */ (step.question);
    if (this.isTold) return this.verdict(question);
    const submit = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const value = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("number");
      if (value) void this.storeAnswer(Number(value));
    };
    const skip = html`<button type="button" class="link" @click=${() => this.storeAnswer(null)}>Show me</button>`;
    return html`<p class="tour-question">${prose(question.text)}</p>
      ${
        question.choices.length
          ? html`<div class="tour-choices">
              ${question.choices.map((choice, index) => html`<button type="button" class="button small" @click=${() => this.storeAnswer(index)}>${prose(choice)}</button>`)}
              ${skip}
            </div>`
          : html`<form class="tour-choices" @submit=${submit}>
              <input name="number" type="number" min="0" step="1" aria-label="Your answer">
              <button class="button small">Answer</button>
              ${skip}
            </form>`
      }`;
  }

  /** @param {NonNullable<TourStep["question"]>} question */
  verdict(question) {
    const { choices, claim } = question;
    const right = choices.length ? question.answer : this.own?.[claim ?? 0];
    if (right === undefined || right === null) return nothing;
    const wordsOf = (/** @type {number} */ answer) =>
      choices.length ? (choices[answer] ?? "") : answer.toLocaleString("en");
    const answer = this.answers.get(this.place.number) ?? null;
    const kind = answer === null ? "" : answer === right ? "is-right" : "is-wrong";
    return html`<p class="tour-verdict ${kind}" role="status">
      ${answer !== null && answer !== right ? html`<b>Not quite:</b> <s>${prose(wordsOf(answer))}</s>. ` : nothing}
      <b>${kind === "is-right" ? "Right" : "The answer"}: ${prose(wordsOf(right))}.</b>
      ${marked(question.why)}
    </p>`;
  }

  /** @param {TourStep} step */
  told(step) {
    const isChanged =
      this.own && this.found.last?.claims.some(({ found }, index) => found !== this.own?.[index]);
    return html`<p class="lesson-caption">${marked(step.caption.trim())}</p>
      ${step.times ? timesTable(step.times) : nothing}
      <ul class="tour-claims" aria-label="Read from the result">
        ${this.claims(step)}
      </ul>
      ${this.hasFailed ? html`<p class="hint">This kernel was not compiled: the Log says why. Compile it again.</p>` : nothing}
      ${
        this.isElsewhere
          ? html`<p class="hint">This step is about another result.
              <a href="/#${store.state.lesson}" target="_blank" rel="noopener">Open it in triton·explorer</a></p>`
          : nothing
      }
      ${
        isChanged
          ? html`<p class="hint">The kernel was changed. <button type="button" class="link" @click=${() => void this.tell()}>
              Back to the kernel of the tour</button></p>`
          : nothing
      }`;
  }

  /**
   * The claims of a step. Without the result of the step, they have no numbers.
   * @param {TourStep} step
   */
  claims({ claims }) {
    if (this.isElsewhere) return nothing;
    if (this.own) return this.found.last?.claims.map((claim, index) => this.claim(claim, this.own?.[index]));
    const triton = store.state.draft.triton ?? store.state.tritons.default;
    return claims
      .filter(({ tritons }) => !tritons?.length || tritons.includes(triton))
      .map(({ says }) => html`<li><span>${marked(says ?? "")}</span> <b>…</b></li>`);
  }

  /** @param {CheckedClaim} claim @param {number | null} [own] */
  claim({ says, found, holds }, own) {
    const words = (/** @type {number | null | undefined} */ value) => value?.toLocaleString("en") ?? "none";
    const isSame = own === undefined || own === found;
    return html`<li class=${isSame && holds ? "" : "is-changed"}>
      <span>${marked(says)}</span> <b>${isSame ? words(found) : `${words(own)} → ${words(found)}`}</b>
    </li>`;
  }
}

/** @param {string} address such as "programs.2" @returns {{name: string, number: number}} a step, from 1 on */
function placeOf(address) {
  const [name = "", number = "1"] = address.split(".");
  return { name, number: Math.max(1, Number(number) || 1) };
}

/**
 * The results of the steps of a tour; null: the server has none.
 * @param {string} name of the tour @param {string} triton
 * @returns {Promise<(string | null)[]>}
 */
function storedResults(name, triton) {
  return get(`/tours/${name}/results?triton=${triton}`);
}

customElements.define("tour-card", TourCard);

registerFamily(() => {
  const card = /** @type {TourCard | null} */ (document.querySelector("tour-card"));
  if (!card) return [];
  return [
    { name: "tour-next", title: "Next step of the tour", group: "Tour", keys: [">"], run: () => card.go(1) },
    {
      name: "tour-back",
      title: "Previous step of the tour",
      group: "Tour",
      keys: ["<"],
      run: () => card.go(-1),
    },
    { name: "tour-leave", title: "Leave the tour", group: "Tour", run: () => card.close() },
  ];
});
