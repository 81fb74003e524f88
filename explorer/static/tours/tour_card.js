/**
 * `<tour-card>`: a step of a tour, above the panes.
 *
 * A step that asks shows its place only after an answer. The numbers of its claims are read from the result
 * that the panes show: they follow what the reader changes in the kernel.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { CheckedClaim, Tour, TourStep, TourStepDocument } from "../core/types.js"
 * @import { Dock } from "../dock/dock.js"
 */
import { LitElement } from "lit";
import { ApiError, api, get } from "../core/api.js";
import { registerFamily } from "../core/commands.js";
import { freshDraft } from "../core/fresh_draft.js";
import { canCompile } from "../core/host.js";
import { follow, Loaded } from "../core/pane.js";
import { pin, putCursor } from "../core/selection.js";
import { store } from "../core/store.js";
import { html, nothing, prose } from "../core/template.js";
import { parseLayout } from "../core/view.js";
import { draftOf, sameRequest } from "../launch/draft.js";
import { choose } from "../launch/edit.js";
import { timesTable } from "./times_table.js";

const ORIGIN = "tour";

class TourCard extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    tour: { state: true },
    answer: { state: true },
    isTold: { state: true },
    own: { state: true },
  };

  found = new Loaded(
    this,
    () => {
      const { result, tour } = store.state;
      const isComplete = result?.finished && result.document.status === "complete";
      return isComplete && this.tour && this.isTold ? [result.id, tour.replace(".", "/")] : null;
    },
    /** @returns {Promise<TourStepDocument>} */
    (id, step) => get(`/compilations/${id}/tours/${step}`),
  );

  constructor() {
    super();
    /** @type {Dock | null} */
    this.dock = null;
    /** @type {Tour | null} */
    this.tour = null;
    /** The step that is shown, as the address has it. */
    this.shown = "";
    /** What the reader has answered; null: nothing. @type {number | null} */
    this.answer = null;
    /** Whether the panes show what the step is about. */
    this.isTold = false;
    /** The numbers of the claims in the result of the tour itself. @type {(number | null)[] | null} */
    this.own = null;
    /** Whether the next numbers are those of the tour's own result. */
    this.awaitsOwn = false;
    follow(this, ["tour", "result", "edited"], () =>
      store.state.tour ? this.requestUpdate() : this.remove(),
    );
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @returns {{name: string, number: number}} the step that the address names, from 1 on */
  get place() {
    const [name = "", number = "1"] = store.state.tour.split(".");
    return { name, number: Math.max(1, Number(number) || 1) };
  }

  /** @returns {TourStep | undefined} */
  get step() {
    return this.tour?.steps[this.place.number - 1];
  }

  /** Show the step that the address names. */
  async show() {
    const { tour } = store.state;
    if (tour === this.shown) return;
    this.shown = tour;
    const { name } = this.place;
    if (this.tour?.name !== name) {
      try {
        this.tour = /** @type {Tour} */ (await get(`/tours/${encodeURIComponent(name)}`));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        store.update({ problem: error.problem, tour: "" });
        return;
      }
    }
    this.answer = null;
    this.own = null;
    this.isTold = false;
    // A link to a result with a step shows both as they were.
    const isOpened = store.state.result !== null || location.pathname !== "/";
    if (!this.step?.question) await this.tell();
    else if (!isOpened) await this.compile();
    await this.updateComplete;
    if (matchMedia("(max-width: 720px)").matches) this.scrollIntoView(); // it is below the source
  }

  /** Compile what the step is about, unless the page shows it. */
  async compile() {
    const { step } = this;
    if (!step || !canCompile) return;
    const { example, kernel, target, options, signature, replace } = step.launch;
    const source = await sourceOf(example);
    if (source === null) return;
    const changed = Object.entries(replace).reduce((text, [old, now]) => text.replaceAll(old, now), source);
    const { result, draft, tritons } = store.state;
    const wanted = freshDraft(changed, target, {
      kernel,
      options,
      signature,
      mode: signature ? "signature" : "launch",
      triton: draft.triton ?? (tritons.default || null),
    });
    if (result && !store.state.edited && sameRequest({ ...draftOf(result.document), private: "" }, wanted))
      return;
    choose(wanted);
  }

  /** Show in the panes what the step is about. */
  async tell() {
    const { step } = this;
    if (!step) return;
    this.awaitsOwn = true;
    await this.compile();
    this.dock?.change(parseLayout(step.panes));
    this.isTold = true;
  }

  /** @override */
  updated() {
    const { answer } = this.found;
    if (!answer || !this.awaitsOwn || store.state.edited || store.state.run) return;
    this.awaitsOwn = false;
    this.own = answer.claims.map(({ found }) => found);
    const { place } = answer;
    if (!place) return;
    putCursor(place.stage, place.line, ORIGIN);
    if (place.source_line && !store.state.pinned.includes(place.source_line))
      pin([place.source_line], ORIGIN);
  }

  /** Go to another step. @param {number} by */
  go(by) {
    const { name, number } = this.place;
    const next = number + by;
    if (next >= 1 && next <= (this.tour?.steps.length ?? 0)) store.update({ tour: `${name}.${next}` });
  }

  /** Take the answer of the reader, and show what the step is about. @param {number | null} answer */
  take(answer) {
    this.answer = answer;
    void this.tell();
  }

  close() {
    store.update({ tour: "" });
  }

  /** @override */
  render() {
    const { step, tour } = this;
    this.hidden = !step;
    if (!step || !tour) return nothing;
    const { number } = this.place;
    const isLast = number === tour.steps.length;
    return html`<header class="tour-head">
        <b>${tour.title}</b>
        <span>Step ${number} of ${tour.steps.length}: ${step.title}</span>
        <button type="button" class="tool" aria-label="Leave the tour" title="Leave the tour" @click=${this.close}>×</button>
      </header>
      <div class="tour-body">
        ${step.question ? this.question(step) : nothing}
        ${this.isTold ? this.told(step) : nothing}
      </div>
      <footer class="tour-steps">
        <button type="button" class="button small" ?disabled=${number === 1} aria-keyshortcuts="<" @click=${() => this.go(-1)}>Back</button>
        <button
          type="button"
          class="button small ${this.isTold ? "primary" : ""}"
          aria-keyshortcuts=">"
          @click=${() => (isLast ? this.close() : this.go(1))}
        >${isLast ? "End" : "Next"}</button>
      </footer>`;
  }

  /** @param {TourStep} step */
  question(step) {
    const question = /** @type {NonNullable<TourStep["question"]>} */ (step.question);
    if (this.isTold) return this.verdict(question);
    const submit = (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const value = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("number");
      if (value) this.take(Number(value));
    };
    const skip = html`<button type="button" class="link" @click=${() => this.take(null)}>Show me</button>`;
    return html`<p class="tour-question">${prose(question.text)}</p>
      ${
        question.choices.length
          ? html`<div class="tour-choices">
              ${question.choices.map((choice, index) => html`<button type="button" class="button small" @click=${() => this.take(index)}>${prose(choice)}</button>`)}
              ${skip}
            </div>`
          : html`<form class="tour-choices" @submit=${submit}>
              <input name="number" type="number" min="0" step="1" aria-label="Your answer">
              <button class="button small">Look</button>
              ${skip}
            </form>`
      }`;
  }

  /** @param {NonNullable<TourStep["question"]>} question */
  verdict(question) {
    const { choices, claim } = question;
    const right = choices.length ? question.answer : this.own?.[claim ?? 0];
    if (right === undefined || right === null) return nothing;
    const words = choices.length ? (choices[right] ?? "") : right.toLocaleString("en");
    const isRight = this.answer === right;
    return html`<p class="tour-verdict ${isRight ? "is-right" : ""}" role="status">
      <b>${this.answer === null ? "Answer:" : isRight ? "Right:" : "Not quite:"} ${prose(words)}.</b>
      ${prose(question.why)}
    </p>`;
  }

  /** @param {TourStep} step */
  told(step) {
    const claims = this.found.last?.claims ?? [];
    const isChanged = this.own && claims.some(({ found }, index) => found !== this.own?.[index]);
    return html`<p class="tour-caption">${prose(step.caption.trim())}</p>
      ${step.times ? timesTable(step.times) : nothing}
      <ul class="tour-claims" aria-label="Read from the result">
        ${claims.map((claim, index) => this.claim(claim, this.own?.[index]))}
      </ul>
      ${
        isChanged
          ? html`<p class="hint">The kernel was changed. <button type="button" class="link" @click=${() => void this.tell()}>
              Back to the kernel of the tour</button></p>`
          : nothing
      }`;
  }

  /** @param {CheckedClaim} claim @param {number | null} [own] */
  claim({ says, found, holds }, own) {
    const words = (/** @type {number | null | undefined} */ value) => value?.toLocaleString("en") ?? "none";
    const isSame = own === undefined || own === found;
    return html`<li class=${isSame && holds ? "" : "is-changed"}>
      <span>${prose(says)}</span> <b>${isSame ? words(found) : `${words(own)} → ${words(found)}`}</b>
    </li>`;
  }
}

/**
 * The script of an example; null: the page says why there is none.
 * @param {string} example
 */
async function sourceOf(example) {
  try {
    return (await api.example(example, new AbortController().signal)).source;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    store.update({ problem: error.problem });
    return null;
  }
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

/** Show the step that the store names. @param {Dock} dock */
export function showTour(dock) {
  let card = /** @type {TourCard | null} */ (document.querySelector("tour-card"));
  if (!card) {
    card = /** @type {TourCard} */ (document.createElement("tour-card"));
    card.setAttribute("role", "region");
    card.setAttribute("aria-label", "Tour");
    card.dock = dock;
    document.querySelector("message-banner")?.before(card);
  }
  void card.show();
}
