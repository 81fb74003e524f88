"""Scripts that time frames inside the page, by `performance.now()`.

A frame counts as there when a task runs that was posted from its animation frame callback: by then the
browser has computed its style and layout and recorded its painting.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

#: For `Page.add_init_script`, so that everything is there before the page is.
HELPERS = """
window.bench = {
  afterFrame: (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = then;
    port2.postMessage(null);
  }),

  /** Milliseconds from `began` to the first frame in which `check` holds. */
  whenDrawn: (check, began) => new Promise((resolve) => {
    const look = () => bench.afterFrame(() => (check() ? resolve(performance.now() - began) : look()));
    look();
  }),

  /** The same from the next event of a type on, by its first listener. */
  timeEvent: (type, check) => {
    bench.timed = new Promise((resolve) => addEventListener(type, () => {
      void bench.whenDrawn(check, performance.now()).then(resolve);
    }, { capture: true, once: true }));
  },

  /** The pointer's next move: see `time_pointer`. */
  timePointer: () => {
    bench.timed = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("no pointer event came")), 30_000);
      addEventListener("pointermove", (event) => {
        const began = performance.now();
        bench.afterFrame(() => {
          const ended = performance.now();
          const isLit = (element) => element.querySelector(".text-row.is-lit, .cm-line.is-lit") !== null;
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
    """Move the pointer and time the answer.

    `work`: milliseconds from the event's first listener to the end of its frame; `total`: from when the
    browser had the event, which then waits for the next frame to begin; `lit`: the editor and the panes that
    show a lit line in that frame, counted.
    """
    page.evaluate("bench.timePointer()")
    page.mouse.move(x, y)
    timed: dict[str, Any] = page.evaluate("bench.timed")
    return timed


def scroll(page: Page, selector: str, speed: int, seconds: int, complete: str) -> dict[str, Any]:
    """Scroll an element by a gesture of `speed` pixels a second; `complete` says whether all is drawn.

    Returns the intervals between the frames in milliseconds, and how many frames were not complete.
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
