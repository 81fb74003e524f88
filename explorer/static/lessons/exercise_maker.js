/**
 * `<exercise-maker>`: makes an exercise of the result that the page shows, as a link that holds all of it.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { Result } from "../core/result.js"
 * @import { CheckedClaim, Claim } from "../core/types.js"
 */
import { LitElement } from "lit";
import { api } from "../core/api.js";
import { Loaded } from "../core/pane.js";
import { html, live, nothing } from "../core/template.js";
import { copyButton } from "../menus/share_menu.js";
import { hasReference } from "../runs/form_state.js";
import { permalink } from "../menus/share.js";
import { checked, claimsText, formatLink } from "./exercise_link.js";

const FIELD = "exercise-link";
/** @typedef {"most" | "least" | "exactly"} Bound */
/** @type {Record<Bound, string>} */
const BOUNDS = { most: "at most", least: "at least", exactly: "exactly" };

/** @type {Record<Bound, (found: number, number: number) => boolean>} */
const HOLDS = {
  most: (found, number) => found <= number,
  least: (found, number) => found >= number,
  exactly: (found, number) => found === number,
};

/** @type {(Claim & {bound: Bound})[]} */
const OFFERED = [
  { says: "Registers of a thread", metric: "registers", bound: "most" },
  { says: "Bytes that spills store and load", metric: "spills", bound: "most" },
  { says: "Bytes of shared memory", metric: "shared_bytes", bound: "most" },
  { says: "Layout conversions in TTGIR", metric: "layout_conversions", bound: "most" },
  { says: "Machine instructions", metric: "instructions", bound: "most" },
  {
    says: "Least bytes that a lane loads at once",
    access: "lane_bytes",
    pattern: "tt\\.load",
    taken: "least",
    bound: "least",
  },
  {
    says: "Least bytes that a lane stores at once",
    access: "lane_bytes",
    pattern: "tt\\.store",
    taken: "least",
    bound: "least",
  },
  {
    says: "Least share of the sectors that a warp uses",
    access: "sector_share",
    pattern: "tt\\.(load|store)",
    taken: "least",
    bound: "least",
  },
  {
    says: "Most conflicts of an access to shared memory",
    shared_access: "conflicts",
    pattern: "ttg\\.local_.*",
    taken: "most",
    bound: "most",
  },
  { says: "Warps that fit on a multiprocessor", occupancy: "active_warps", bound: "least" },
  { says: "Barriers in PTX", stage: "ptx", pattern: "\\bbar(rier)?\\.(cta\\.)?sync", bound: "most" },
];
/** @type {Claim} */
const RIGHT = { says: "The result is right", run: "matches", exactly: 1 };

class ExerciseMaker extends LitElement {
  /** @type {PropertyDeclarations} */
  static properties = {
    link: { state: true },
    problem: { state: true },
    stage: { state: true },
    pattern: { state: true },
  };

  numbers = new Loaded(
    this,
    () => (this.result ? [this.result.id] : null),
    (id) =>
      api.analysis(id, "claims", { claims: claimsText(OFFERED.map(({ bound: _bound, ...claim }) => claim)) }),
  );

  lines = new Loaded(
    this,
    () => (this.result && this.pattern ? [this.result.id, this.stage, this.pattern] : null),
    (id, stage, pattern) => api.analysis(id, "claims", { claims: claimsText([{ stage, pattern }]) }),
  );

  constructor() {
    super();
    /** @type {Result | null} */
    this.result = null;
    this.link = "";
    this.problem = "";
    this.stage = "ttgir";
    this.pattern = "";
  }

  /** @override */
  createRenderRoot() {
    return this;
  }

  /** @override */
  firstUpdated() {
    this.querySelector("dialog")?.showModal();
  }

  /** Read the form into a link. @param {SubmitEvent} event */
  make(event) {
    event.preventDefault();
    const { result } = this;
    if (!result) return;
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const field = (/** @type {string} */ name) => String(form.get(name) ?? "").trim();
    let isMet = true;
    /** @param {string} name @param {Claim} claim @param {CheckedClaim | undefined} now @returns {Claim[]} */
    const goal = (name, claim, now) => {
      if (!form.get(`${name}.on`)) return [];
      const bound = /** @type {Bound} */ (field(`${name}.bound`));
      const number = Number(field(`${name}.number`));
      isMet &&= HOLDS[bound](now?.found ?? NaN, number);
      return [{ ...claim, [bound]: number }];
    };
    const found = this.numbers.answer ?? [];
    const offered = OFFERED.flatMap(({ bound: _bound, ...claim }, index) =>
      goal(`${index}`, claim, found[index]),
    );
    const { stage, pattern } = this;
    const says = field("lines.says") || `Lines of ${stage} with ${pattern}`;
    const lines = goal("lines", { says, stage, pattern }, this.lines.answer?.[0]);
    try {
      const exercise = checked({
        start: result.id,
        title: field("title"),
        task: field("task"),
        goals: [...offered, ...lines, ...(form.get("right") ? [RIGHT] : [])],
        hints: field("hints")
          .split("\n")
          .map((hint) => hint.trim())
          .filter(Boolean),
      });
      this.problem = isMet ? "The kernel as it is already meets these goals." : "";
      this.link = permalink(result, `#${formatLink(exercise)}`);
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
      this.link = "";
    }
  }

  /** @override */
  render() {
    const { result, numbers } = this;
    if (!result) return nothing;
    const found = numbers.answer ?? [];
    const stages = result.document.stages;
    const close = () => this.querySelector("dialog")?.close();
    return html`<dialog class="exercise-maker" aria-labelledby="exercise-maker-title" @close=${() => this.remove()}>
      <form @submit=${this.make} @input=${() => (this.link = "")}>
        <h2 id="exercise-maker-title">Make an exercise of this result</h2>
        <p class="hint">It starts with the kernel as it is. The link holds the rest: nothing is stored on the server.</p>
        <label class="exercise-field"><span>Title</span><input name="title" maxlength="100" required></label>
        <label class="exercise-field"><span>Task</span><textarea name="task" rows="3" maxlength="1500"></textarea></label>
        <fieldset>
          <legend>Goals: what must be true</legend>
          ${OFFERED.map((offer, index) =>
            typeof found[index]?.found === "number"
              ? this.goal(`${index}`, offer.says ?? "", offer.bound, found[index].found)
              : nothing,
          )}
          ${this.goal(
            "lines",
            html`Lines of
              <select aria-label="Stage" @change=${this.takeStage}>
                ${stages.map(({ name, title }) => html`<option value=${name} ?selected=${name === this.stage}>${title}</option>`)}
              </select>
              with <input class="exercise-pattern" aria-label="Regular expression" maxlength="200" spellcheck="false" @change=${this.takePattern}>`,
            "least",
            this.lines.answer?.[0]?.found ?? 0,
          )}
          <label class="check"><input type="checkbox" name="right" ?disabled=${!hasReference(result.document)}>The result
            is right${hasReference(result.document) ? "" : ": the script needs a function reference"}</label>
        </fieldset>
        <label class="exercise-field"><span>Hints, one in each line</span><textarea name="hints" rows="3"></textarea></label>
        <p role="status" class="exercise-problem">${this.problem}</p>
        ${
          this.link
            ? html`<div class="share-row">
                <input type="text" readonly id=${FIELD} aria-label="Link to the exercise" .value=${live(this.link)}>
                ${copyButton(result.id, FIELD, "Copy link", "Link to the exercise copied.")}
              </div>`
            : nothing
        }
        <div class="exercise-maker-buttons">
          <button type="button" class="button" @click=${close}>Close</button>
          <button class="button ${this.link ? "" : "primary"}">Make the link</button>
        </div>
      </form>
    </dialog>`;
  }

  /** @param {Event} event */
  takeStage(event) {
    this.stage = /** @type {HTMLSelectElement} */ (event.target).value;
  }

  /** @param {Event} event */
  takePattern(event) {
    this.pattern = /** @type {HTMLInputElement} */ (event.target).value;
  }

  /** @param {string} name @param {unknown} words @param {Bound} bound @param {number} number as it is now */
  goal(name, words, bound, number) {
    const says = typeof words === "string" ? words : "Lines of a stage";
    return html`<div class="exercise-choice">
      <label class="check"><input type="checkbox" name="${name}.on" aria-label=${says}>${typeof words === "string" ? words : nothing}</label>
      ${typeof words === "string" ? nothing : html`<span>${words}</span>`}
      <select name="${name}.bound" aria-label="Bound: ${says}">
        ${Object.entries(BOUNDS).map(([key, title]) => html`<option value=${key} ?selected=${key === bound}>${title}</option>`)}
      </select>
      <input name="${name}.number" type="number" step="any" min="0" aria-label="Number: ${says}" value=${number}>
    </div>`;
  }
}

customElements.define("exercise-maker", ExerciseMaker);

/** @param {Result} result */
export function makeExercise(result) {
  const maker = /** @type {ExerciseMaker} */ (document.createElement("exercise-maker"));
  maker.result = result;
  document.body.append(maker);
}
