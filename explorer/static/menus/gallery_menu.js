/**
 * The Gallery menu: the tours, the exercises, and a card for each example.
 *
 * @import { ExerciseRow, TourRow } from "../core/types.js"
 */
import { get } from "../core/api.js";
import { html, nothing, prose, render } from "../core/template.js";
import { choose, openExample } from "../launch/edit.js";
import { allProgress, forgetOwn, forgetProgress, ownDraft } from "../lessons/progress.js";
import { store } from "../core/store.js";
import { tourRows } from "../lessons/tour_rows.js";

/** @type {Promise<[TourRow[], ExerciseRow[]]> | undefined} */
let lessons;

/** @param {HTMLElement} popover */
export function draw(popover) {
  lessons ??= fetchLessons();
  drawCards(popover, [], []);
  void lessons.then(([tours, exercises]) => {
    const isFirst = document.activeElement === popover.querySelector("button");
    drawCards(popover, tours, exercises);
    // The tours are inserted before the element that had the focus.
    if (isFirst) popover.querySelector("button")?.focus();
  });
}

/** What cannot be had now is asked for at the next opening. @returns {Promise<[TourRow[], ExerciseRow[]]>} */
async function fetchLessons() {
  const [tours, exercises] = await Promise.all([tourRows(), get("/exercises").catch(() => [])]);
  if (!tours.length || !exercises.length) lessons = undefined;
  return [tours, exercises];
}

/** @param {HTMLElement} popover @param {TourRow[]} tours @param {ExerciseRow[]} exercises */
function drawCards(popover, tours, exercises) {
  const leave = () => {
    popover.hidePopover();
    store.update({ lesson: "" });
  };
  const open = (/** @type {string} */ name) => () => {
    leave();
    void openExample(name);
  };
  const openLesson = (/** @type {string} */ lesson) => () => {
    popover.hidePopover();
    store.update({ lesson });
  };
  const progress = allProgress();
  const forget = () => {
    forgetProgress();
    drawCards(popover, tours, exercises);
  };
  const goBack = () => {
    const draft = ownDraft();
    forgetOwn();
    leave();
    if (draft) choose(draft);
  };
  const offered = tours.map(
    ({ name, title, question, steps }) =>
      html`<button type="button" class="card" @click=${openLesson(`tour=${name}.1`)}>
        <b>${title}</b><span>${prose(question)} <small>${steps} steps</small></span>
      </button>`,
  );
  const tasks = exercises.map(({ name, title, level }) => {
    const state = progress[name]?.isSolved ? "✓ solved" : progress[name] ? "begun" : "";
    return html`<button type="button" class="card is-exercise" @click=${openLesson(`exercise=${name}`)}>
        <b>${title}</b><span>${level}${state ? html` <small>${state}</small>` : nothing}</span>
      </button>`;
  });
  const cards = store.state.gallery.map(({ name, title, summary }) => {
    const tour =
      tours.find(({ examples }) => examples[0] === name) ??
      tours.find(({ examples }) => examples.includes(name));
    return html`<div class="kernel">
      <button type="button" class="card" @click=${open(name)}>
        <b>${title}</b><span>${firstSentence(summary)}</span>
      </button>
      ${tour ? html`<button type="button" class="link" @click=${openLesson(`tour=${tour.name}.1`)}>Tour: ${tour.title}</button>` : nothing}
    </div>`;
  });
  const solved = exercises.filter(({ name }) => progress[name]?.isSolved).length;
  const far = html`<p class="hint">${solved} of ${exercises.length} solved.
    ${Object.keys(progress).length ? html`<button type="button" class="link" @click=${forget}>Forget the exercises</button>` : nothing}
    ${ownDraft() ? html`<button type="button" class="link" @click=${goBack}>Back to your kernel</button>` : nothing}</p>`;
  render(
    html`${offered.length ? html`<h2>Tours: learn how kernels are lowered</h2>${offered}` : nothing}
      ${tasks.length ? html`<h2>Exercises: make the compiler do it</h2>${tasks}${far}` : nothing}
      ${offered.length + tasks.length ? html`<h2>Kernels</h2>` : nothing}${cards}`,
    popover,
  );
}

/** @param {string} text */
function firstSentence(text) {
  const plain = text.replace(/\s+/g, " ").trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
