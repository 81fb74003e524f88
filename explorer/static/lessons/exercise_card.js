/**
 * `<exercise-card>`: an exercise, above the panes: its task, its goals with their current values, and hints.
 *
 * The numbers are facts of the result that the panes show. A run in Triton's interpreter checks the goals about the
 * kernel's output. It starts when the other goals hold.
 *
 * @import { PropertyDeclarations } from "lit"
 * @import { CheckedClaim, Claim, Exercise, ExerciseRow } from "../core/types.js"
 * @import { RunResult } from "../runs/run_result.js"
 * @import { LinkedExercise } from "./exercise_link.js"
 */
import { ApiError, api, get } from "../core/api.js";
import { registerFamily } from "../core/commands.js";
import { canCompile, compilationId } from "../core/host.js";
import { Loaded } from "../core/pane.js";
import { store } from "../core/store.js";
import { html, nothing, prose } from "../core/template.js";
import { parseLayout } from "../core/view.js";
import { choose, openResult } from "../launch/edit.js";
import { formFor, runOf } from "../runs/form_state.js";
import { openRun } from "../runs/runner.js";
import { stateWords } from "../runs/words.js";
import { claimsText, isLink, readLink } from "./exercise_link.js";
import { LessonCard, draftOfLaunch, firstResult, openDraft, replaced } from "./lesson_card.js";
import { forgetOwn, keepOwn, keepProgress, keptWork, ownDraft } from "./progress.js";

/** @typedef {{goal: Claim, found?: CheckedClaim}} Judged without `found`: it is not known yet */
/** Where the number of a goal is from. @typedef {"text" | "compiler" | "run"} Origin */

const LINK_TITLE = "The link has no valid exercise";

export class ExerciseCard extends LessonCard {
  static kind = "exercise";
  static title = "Exercise";
  /** @type {(typeof LessonCard)["slices"]} */
  static slices = ["result", "edited", "draft", "failure", "liveFailure", "run", "runResults"];

  /** @type {PropertyDeclarations} */
  static properties = {
    exercise: { state: true },
    list: { state: true },
    hints: { state: true },
    ran: { state: true },
    runProblem: { state: true },
  };

  found = this.compiled("text");
  /** The numbers that the compiler is asked for, which takes longer. */
  foundByCompiler = this.compiled("compiler");

  foundByRun = new Loaded(
    this,
    () =>
      this.ran?.finished && this.ran.compilation === store.state.result?.id
        ? [this.ran.id, claimsText(this.goals("run"))]
        : null,
    /** @returns {Promise<CheckedClaim[]>} */
    (id, claims) => get(`/runs/${id}/claims?claims=${encodeURIComponent(claims)}`),
  );

  constructor() {
    super();
    /** @type {Exercise | LinkedExercise | null} */
    this.exercise = null;
    /** All exercises, from easy to hard. @type {ExerciseRow[]} */
    this.list = [];
    /** How many hints are shown. */
    this.hints = 0;
    /** The last run. @type {RunResult | null} */
    this.ran = null;
    /** Why there is no run. */
    this.runProblem = "";
    this.shown = "";
    /** The result that was last run. */
    this.wanted = "";
    /** Whether the editor has the kernel of the exercise. */
    this.isOpen = false;
    /** Whether numbers of that kernel have come. */
    this.isKnown = false;
  }

  /** The exercise of the server that is shown; null: that of a link. */
  get own() {
    return this.exercise && "name" in this.exercise ? this.exercise : null;
  }

  /** The goals with numbers from one source. @param {Origin} origin @returns {Claim[]} */
  goals(origin) {
    return this.exercise?.goals.filter((goal) => originOf(goal) === origin) ?? [];
  }

  /** The numbers of the goals that a compilation judges. @param {Origin} origin */
  compiled(origin) {
    return new Loaded(
      this,
      () => {
        const { result } = store.state;
        const isComplete = result?.finished && result.document.status === "complete";
        return isComplete && this.goals(origin).length ? [result.id, claimsText(this.goals(origin))] : null;
      },
      (id, claims) => api.analysis(id, "claims", { claims }),
    );
  }

  /** The goals that a compilation judges, each with its number; null: a number is not known. */
  get compiledGoals() {
    const all = /** @type {const} */ ([
      ["text", this.found],
      ["compiler", this.foundByCompiler],
    ]);
    return all.every(([origin, { answer }]) => answer || !this.goals(origin).length)
      ? all.flatMap(([, { answer }]) => answer ?? [])
      : null;
  }

  /** @override */
  async show() {
    const { address } = this;
    if (address === null || address === this.shown) return;
    const isFirst = this.shown === "" && this.exercise === null;
    this.shown = address;
    this.isOpen = false;
    this.isKnown = false;
    try {
      this.exercise = isLink(address)
        ? readLink(address)
        : /** @type {Exercise} */ (await get(`/exercises/${encodeURIComponent(address)}`));
      if (!this.list.length) this.list = await get("/exercises");
    } catch (error) {
      const problem =
        error instanceof ApiError
          ? error.problem
          : { title: LINK_TITLE, kind: "link", detail: /** @type {Error} */ (error).message };
      store.update({ problem, lesson: "" });
      return;
    }
    this.hints = 0;
    this.ran = null;
    this.wanted = "";
    // A link to a result with an exercise shows both, if the result is a kernel of the exercise.
    this.isOpen = Boolean(isFirst && compilationId && (await this.isOfExercise(address)));
    // The numbers of the result may have arrived before.
    if (this.isOpen) this.requestUpdate();
    else await this.open();
    await this.scrollToSight();
  }

  /**
   * Whether the result of the address is a kernel of the exercise. The address has another result until the first
   * kernel of the exercise is compiled.
   * @param {string} address of the exercise
   */
  async isOfExercise(address) {
    const { exercise, own } = this;
    const [{ document }, start] = await Promise.all([
      firstResult(),
      own
        ? draftOfLaunch(own.launch)
        : api.compilation(/** @type {LinkedExercise} */ (exercise).start).then(
            ({ request }) => request,
            () => null,
          ),
    ]);
    // The reader has gone on meanwhile, or nothing can be compared.
    if (address !== this.shown || !start || !document.kernel) return true;
    return start.source.includes(`def ${document.kernel}(`);
  }

  /** Put the kernel into the editor, as far as it is. @param {boolean} [isAnew] as it was at the start */
  async open(isAnew = false) {
    const { exercise, own } = this;
    if (!exercise || !canCompile) return;
    if (!own) {
      await openResult(/** @type {LinkedExercise} */ (exercise).start);
      this.isOpen = true;
      return;
    }
    const start = await draftOfLaunch(own.launch);
    if (!start || this.exercise !== exercise) return;
    keepOwn(start.target);
    this.dock?.change(parseLayout(own.panes));
    this.isOpen = true;
    openDraft((isAnew ? null : keptWork(own.name, start)) ?? start);
  }

  /** Put the solution into the editor. */
  async solve() {
    const { own } = this;
    const start = own && (await draftOfLaunch(own.launch));
    if (start) choose({ ...start, source: replaced(start.source, own.solution) });
  }

  /** Restore the draft from before the exercise, and leave. */
  goBack() {
    const draft = ownDraft();
    this.isOpen = false;
    forgetOwn();
    this.close();
    if (draft) choose(draft);
  }

  /** Run the kernel in the interpreter. */
  async check() {
    const { result, measures, runForm } = store.state;
    if (!result || !this.exercise) return;
    this.wanted = result.id;
    this.ran = null;
    this.runProblem = "";
    try {
      /** @type {typeof runForm} */
      const form = {
        ...formFor(result.document, runForm),
        what: "launch",
        measures: ["check", "counts"],
        reference: this.own?.reference ?? "",
        seed: "0",
      };
      const run = runOf(result.document, form, "interpreter", measures);
      const { id } = await api.startRun(result.id, run, { isBatch: false });
      this.ran = await openRun(id, result.id);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.runProblem = error.problem.detail || error.problem.title;
    }
  }

  /** All goals, each with its last value. @returns {Judged[]} */
  get judged() {
    return [
      ...this.judgedBy("text", this.isKnown ? this.found.last : null),
      ...this.judgedBy("compiler", this.isKnown ? this.foundByCompiler.last : null),
      ...this.judgedBy("run", this.foundByRun.answer),
    ];
  }

  /** @param {Origin} origin @param {CheckedClaim[] | null} answer @returns {Judged[]} */
  judgedBy(origin, answer) {
    return this.goals(origin).map((goal, index) => judged(goal, answer?.[index]));
  }

  /** Whether the checked result is complete and belongs to the text of the editor. */
  get isCurrent() {
    const { edited, failure, liveFailure, run, result } = store.state;
    return !edited && !failure && !liveFailure && !run && result?.document.status === "complete";
  }

  get isSolved() {
    const isFound = this.compiledGoals && (!this.goals("run").length || this.foundByRun.answer);
    return Boolean(
      this.isKnown && isFound && this.isCurrent && this.judged.every(({ found }) => found?.holds),
    );
  }

  /** @override */
  updated() {
    const { draft, edited, result } = store.state;
    const { own } = this;
    if (own && this.isOpen && edited) keepProgress(own.name, { draft: { ...draft, private: "" } });
    if (own && this.isSolved) keepProgress(own.name, { isSolved: true });
    const isAnswered = this.found.answer || this.foundByCompiler.answer;
    if (this.isOpen && this.isCurrent && isAnswered && !this.isKnown) {
      this.isKnown = true;
      this.requestUpdate();
    }
    const isReady = this.isKnown && this.isCurrent && this.compiledGoals?.every(({ holds }) => holds);
    if (isReady && this.goals("run").length && this.wanted !== result?.id) void this.check();
  }

  /** The exercise after this one; undefined: it is the last, or of a link. */
  get next() {
    const index = this.list.findIndex(({ name }) => name === this.own?.name);
    return index < 0 ? undefined : this.list[index + 1];
  }

  showNext() {
    if (this.next) store.update({ lesson: `exercise=${this.next.name}` });
  }

  showHint() {
    this.hints = Math.min(this.hints + 1, this.exercise?.hints.length ?? 0);
  }

  /** @override */
  render() {
    const { exercise, own } = this;
    this.hidden = !exercise;
    if (!exercise) return nothing;
    const number = this.list.findIndex(({ name }) => name === own?.name) + 1;
    const words = own ? `Exercise ${number} of ${this.list.length}, ${own.level}` : "Exercise of a link";
    return html`${this.head(exercise.title, words, "Leave the exercise")}
      <div class="lesson-body">
        <p class="lesson-caption">${prose(exercise.task.trim())}</p>
        <ul class="exercise-goals" aria-label="Goals">${this.judged.map((each) => this.goal(each))}</ul>
        ${
          this.hints
            ? html`<ol class="exercise-hints" aria-label="Hints">
                ${exercise.hints.slice(0, this.hints).map((hint) => html`<li>${prose(hint)}</li>`)}
              </ol>`
            : nothing
        }
        <p class="exercise-verdict ${this.isSolved ? "is-solved" : ""}" role="status">${this.verdict()}</p>
      </div>
      <footer class="lesson-steps">${this.buttons()}</footer>`;
  }

  verdict() {
    const { failure, liveFailure } = store.state;
    if (this.isSolved) return html`<b>All goals are met.</b> ${prose(this.own?.after.trim() ?? "")}`;
    if (failure || liveFailure)
      return "The kernel does not compile: the numbers belong to the last version that compiled.";
    const error = this.found.task.error ?? this.foundByCompiler.task.error;
    if (error instanceof ApiError) return `The goals cannot be read: ${error.problem.detail}`;
    if (this.runProblem) return `The kernel cannot be run: ${this.runProblem}`;
    const { run, sending } = store.state;
    const { document } = run?.result ?? {};
    if (document?.status === "queued")
      return `The kernel is compiled first: ${stateWords({ ...document, progress: null })} …`;
    if (run || sending) return "The kernel is compiled first …";
    if (this.ran && !this.ran.finished)
      return `The kernel runs in Triton's interpreter: ${stateWords(this.ran.document)} …`;
    if (this.isCurrent && !this.compiledGoals) return "The goals are being checked …";
    return nothing;
  }

  buttons() {
    const { exercise, own, hints, isSolved } = this;
    const all = exercise?.hints.length ?? 0;
    const button = (/** @type {string} */ title, /** @type {() => void} */ act, isPrimary = false) =>
      html`<button type="button" class="button small ${isPrimary ? "primary" : ""}" @click=${act}>${title}</button>`;
    return html`${hints < all ? button(`Hint ${hints + 1} of ${all}`, () => this.showHint()) : nothing}
      ${own && hints === all && !isSolved ? button("Show a solution", () => void this.solve()) : nothing}
      ${this.goals("run").length && !isSolved ? button("Check the result", () => void this.check()) : nothing}
      ${button("Start again", () => void this.open(true))}
      ${ownDraft() ? button("Back to your kernel", () => this.goBack()) : nothing}
      ${this.next ? button("Next exercise", () => this.showNext(), isSolved) : nothing}`;
  }

  /** @param {Judged} judged */
  goal({ goal, found }) {
    const state = !found ? "unknown" : found.holds ? "met" : "missed";
    const [mark, words] = MARKS[state];
    return html`<li class="is-${state}">
      <span class="exercise-mark" role="img" aria-label=${words}>${mark}</span>
      <span>${prose(goal.says ?? "")}</span>
      ${found ? html`<b>${numberWords(goal, found.found)}</b>` : nothing}
      ${found || originOf(goal) === "run" || !this.isCurrent ? nothing : html`<small>checking …</small>`}
      ${state === "met" ? nothing : html`<small>${wantedWords(goal)}</small>`}
      ${found && originOf(goal) === "compiler" ? html`<small>modelled</small>` : nothing}
      ${found?.reason ? html`<em>${found.reason}</em>` : nothing}
    </li>`;
  }
}

const MARKS = { met: ["✓", "Met:"], missed: ["✗", "Not met:"], unknown: ["○", "Not known yet:"] };

/** @param {Claim} goal @param {CheckedClaim | undefined} found @returns {Judged} */
function judged(goal, found) {
  return found ? { goal, found } : { goal };
}

/** @param {Claim} goal @param {number | null | undefined} found */
function numberWords({ run }, found) {
  if (run === "matches") return found === null || found === undefined ? "" : found ? "yes" : "no";
  return found?.toLocaleString("en", { maximumFractionDigits: 3 }) ?? "none";
}

/** A number from the compiler is modeled by its rules, instead of read from its output. @param {Claim} goal @returns {Origin} */
function originOf({ access, run, shared_access }) {
  return run ? "run" : access || shared_access ? "compiler" : "text";
}

/** Return the bounds of a goal in words. @param {Claim} goal */
function wantedWords({ run, exactly, least, most }) {
  if (run === "matches") return "";
  const words = (/** @type {number} */ value) => value.toLocaleString("en", { maximumFractionDigits: 3 });
  if (typeof exactly === "number") return `wanted: ${words(exactly)}`;
  const bounds = [
    typeof least === "number" ? `at least ${words(least)}` : "",
    typeof most === "number" ? `at most ${words(most)}` : "",
  ];
  return `wanted: ${bounds.filter(Boolean).join(", ")}`;
}

customElements.define("exercise-card", ExerciseCard);

registerFamily(() => {
  const card = /** @type {ExerciseCard | null} */ (document.querySelector("exercise-card"));
  if (!card) return [];
  const group = "Exercise";
  return [
    { name: "exercise-hint", title: "Next hint of the exercise", group, run: () => card.showHint() },
    { name: "exercise-run", title: "Run the kernel of the exercise", group, run: () => void card.check() },
    { name: "exercise-restart", title: "Start the exercise again", group, run: () => void card.open(true) },
    { name: "exercise-leave", title: "Leave the exercise", group, run: () => card.close() },
  ];
});
