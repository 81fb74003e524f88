/**
 * Show the lesson that the store names: a step of a tour, or an exercise.
 *
 * @import { LessonCard } from "./lesson_card.js"
 * @import { Dock } from "../dock/dock.js"
 */
import { store } from "../core/store.js";
import { ExerciseCard } from "./exercise_card.js";
import { TourCard } from "./tour_card.js";

/** The lesson that was shown last, without its step. */
let last = "";

/** @param {Dock} dock */
export async function showLesson(dock) {
  const { lesson } = store.state;
  const Card = [TourCard, ExerciseCard].find(({ kind }) => lesson.startsWith(`${kind}=`));
  if (!Card) return;
  const name = `${Card.kind}-card`;
  let card = /** @type {LessonCard | null} */ (document.querySelector(name));
  const [title = ""] = lesson.split(".");
  // The lesson of an address opens before there is a result.
  const isOpened = store.state.result && (!card || title !== last);
  last = title;
  if (!card) {
    card = /** @type {LessonCard} */ (document.createElement(name));
    card.setAttribute("role", "region");
    card.setAttribute("aria-label", Card.title);
    card.tabIndex = -1;
    card.dock = dock;
    document.querySelector("message-banner")?.before(card);
  }
  await card.show();
  if (isOpened) card.takeFocus();
}
