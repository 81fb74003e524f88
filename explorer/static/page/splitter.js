/** The line between source and stages, moved by mouse or arrow keys. */
import { byId } from "../core/dom.js";
import { keep, kept } from "../core/storage.js";

const KEY = "left-width";
const NARROWEST_PX = 260;

export function startSplitter() {
  const splitter = byId("splitter");
  /** @param {number} width */
  const set = (width) => {
    const widest = Math.max(NARROWEST_PX, innerWidth * 0.6);
    const rounded = Math.round(Math.min(widest, Math.max(NARROWEST_PX, width)));
    document.documentElement.style.setProperty("--left", `${rounded}px`);
    splitter.setAttribute("aria-valuenow", String(rounded));
    keep(KEY, String(rounded));
  };
  const current = () => byId("left").getBoundingClientRect().width;
  const width = Number(kept(KEY));
  if (width) set(width);
  // With the next frame, for which the browser lays the page out anyway.
  else requestAnimationFrame(() => splitter.setAttribute("aria-valuenow", String(Math.round(current()))));
  splitter.addEventListener("pointerdown", (event) => {
    splitter.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ moved) => set(moved.clientX);
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", () => splitter.removeEventListener("pointermove", move), {
      once: true,
    });
  });
  splitter.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -24, ArrowRight: 24 }[event.key];
    if (step) set(current() + step);
  });
}
