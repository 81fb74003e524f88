"""Scripts that time frames inside the page with `performance.now()`.

A frame is complete when a task runs that was posted from its animation frame callback. By then, the browser
has computed style and layout and has recorded the paint.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

#: For `Page.add_init_script`, which runs it before the scripts of the page.
HELPERS = """
window.bench = {
  afterFrame: (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(null);
  }),

  /** Resolve to the milliseconds from `began` to the first frame in which `check` is true. */
  whenDrawn: (check, began) => new Promise((resolve) => {
    const look = () => bench.afterFrame(() => (check() ? resolve(performance.now() - began) : look()));
    look();
  }),

  /** Time the same, starting from the first listener of the next event of a type. */
  timeEvent: (type, check) => {
    bench.timed = new Promise((resolve) => addEventListener(type, () => {
      void bench.whenDrawn(check, performance.now()).then(resolve);
    }, { capture: true, once: true }));
  },

  /** Time the next move of the pointer: see `time_pointer`. */
  timePointer: () => {
    bench.timed = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("no pointer event within 30 seconds")), 30_000);
      addEventListener("pointermove", (event) => {
        const began = performance.now();
        bench.afterFrame(() => {
          const ended = performance.now();
          const isLit = (element) => element.querySelector(".lit-lines > .is-lit") !== null;
          const lit = [...document.querySelectorAll("pane-stage, .editor")].filter(isLit).length;
          resolve({ work: ended - began, total: ended - event.timeStamp, lit });
        });
      }, { capture: true, once: true });
    });
  },

  startFrames: (check) => {
    const frames = { intervals: [], incomplete: 0, isOn: true };
    let before = null;
    const next = (now) => {
      if (!frames.isOn) return;
      if (before !== null) frames.intervals.push(now - before);
      before = now;
      if (!check()) frames.incomplete += 1;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    bench.frames = frames;
  },

  endFrames: () => {
    bench.frames.isOn = false;
    const { intervals, incomplete } = bench.frames;
    return { intervals, incomplete };
  },
};
"""


def time_pointer(page: Page, x: float, y: float) -> dict[str, Any]:
    """Move the pointer and time the highlighting.

    Return `work`, the milliseconds from the event's first listener to the end of its frame; `total`, the
    same from the time stamp of the event, which includes the wait for the next frame; and `lit`, how many of
    the editor and the stage panes have a highlighted line in that frame.
    """
    page.evaluate("bench.timePointer()")
    page.mouse.move(x, y)
    timed: dict[str, Any] = page.evaluate("bench.timed")
    return timed


def scroll(page: Page, selector: str, speed: int, seconds: int, complete: str) -> dict[str, Any]:
    """Scroll an element with a gesture of `speed` pixels per second.

    `complete` is a JavaScript expression that tells whether all visible rows are rendered. Return the
    intervals between frames in milliseconds, and the number of incomplete frames.
    """
    box = page.locator(selector).bounding_box()
    assert box is not None
    page.evaluate(f"bench.startFrames(() => {complete})")
    page.context.new_cdp_session(page).send(
        "Input.synthesizeScrollGesture",
        {
            "x": box["x"] + 100,
            "y": box["y"] + 100,
            "yDistance": -speed * seconds,
            "speed": speed,
            "preventFling": True,
            "gestureSourceType": "mouse",
        },
    )
    frames: dict[str, Any] = page.evaluate("bench.endFrames()")
    return frames
