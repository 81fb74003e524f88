/**
 * The Learn menu: the tours, the exercises and the glossary.
 *
 * @import { ExerciseRow, TourRow } from "../core/types.js"
 */
import { get } from "../core/api.js";
import { html, nothing, prose, render } from "../core/template.js";
import { choose } from "../launch/edit.js";
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
    const isFirst = document.activeElement === popover.querySelector("a");
    drawCards(popover, tours, exercises);
    // The lessons are inserted before the element that had the focus.
    if (isFirst) /** @type {HTMLElement | null} */ (popover.querySelector("button, a"))?.focus();
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
    openLesson("")();
    if (draft) choose(draft);
  };
  const offered = tours.map(
    ({ name, title, question, steps }) =>
      html`<button type="button" class="card" @click=${openLesson(`tour=${name}.1`)}>
        <b>${title} <small>${steps} steps</small></b><span>${prose(question)}</span>
      </button>`,
  );
  const tasks = exercises.map(({ name, title, level }) => {
    const state = progress[name]?.isSolved ? "✓ solved" : progress[name] ? "begun" : "";
    return html`<button type="button" class="card is-exercise" @click=${openLesson(`exercise=${name}`)}>
        <b>${title}</b><span>${level}${state ? html` <small>${state}</small>` : nothing}</span>
      </button>`;
  });
  const solved = exercises.filter(({ name }) => progress[name]?.isSolved).length;
  const far = html`<p class="hint">${solved} of ${exercises.length} solved.
    ${Object.keys(progress).length ? html`<button type="button" class="link" @click=${forget}>Forget the exercises</button>` : nothing}
    ${ownDraft() ? html`<button type="button" class="link" @click=${goBack}>Back to your kernel</button>` : nothing}</p>`;
  render(
    html`${offered.length ? html`<h2>Tours: learn how kernels are lowered</h2>${offered}` : nothing}
      ${tasks.length ? html`<h2>Exercises: make the compiler do it</h2>${tasks}${far}` : nothing}
      <a class="card" href="/glossary" target="_blank" rel="noopener"
        ><b>Glossary</b><span>The terms of the page, with sources</span></a
      >`,
    popover,
  );
}
