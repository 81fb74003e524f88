/** The History menu: own results, each one click away. */
import { register } from "./commands.js";
import { comparisonUrl } from "./compare/address.js";
import { openResult } from "./edit.js";
import { byId, make, toast } from "./dom.js";
import { ago } from "./format.js";
import { clearHistory, ownResults, startHistory } from "./history.js";
import { menu } from "./popover.js";
import { store } from "./store.js";

export function startHistoryMenu() {
  startHistory();
  const popover = menu("history-menu", "history-button");
  popover.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") draw(popover);
  });
  const clear = () => {
    clearHistory();
    popover.hidePopover();
    toast("History cleared.");
  };
  popover.addEventListener("history-clear", clear);
  register([
    { name: "history", title: "Open the history", group: "Page", run: () => byId("history-button").click() },
    { name: "clear-history", title: "Clear the history", group: "Page", run: clear },
  ]);
}

/** @param {HTMLElement} popover */
function draw(popover) {
  const entries = ownResults();
  const shown = store.state.failure ?? store.state.result;
  if (entries.length === 0) {
    popover.replaceChildren(make("p", { class: "hint" }, "What you compile is listed here, in this browser only."));
    return;
  }
  popover.replaceChildren(
    ...entries.map((entry) => {
      const link = make(
        "a",
        {
          class: "history-entry", href: `/k/${encodeURIComponent(entry.id)}`, "aria-current": entry.id === shown?.id ? "true" : null,
          onclick: (/** @type {MouseEvent} */ event) => {
            // Other buttons and keys open another tab, as for any link.
            if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            popover.hidePopover();
            store.update({ pinned: [], origin: null });
            void openResult(entry.id);
          },
        },
        make("span", { class: `state is-${entry.status}`, role: "img", "aria-label": entry.status }),
        make("b", {}, entry.kernel || "no kernel"),
        make("span", { class: "history-title" }, entry.title),
        make("small", {}, [entry.target, `Triton ${entry.triton}`, entry.facts].filter(Boolean).join(" · ")),
        make("time", { datetime: new Date(entry.at).toISOString() }, ago(Date.now() - entry.at)),
      );
      const compare = shown && entry.id !== shown.id && make("a", { class: "history-compare", href: comparisonUrl(entry.id, shown.id), "aria-label": `Compare ${entry.kernel || "it"} of ${ago(Date.now() - entry.at)} with what is shown` }, "compare");
      return make("div", { class: "history-row" }, link, compare);
    }),
    make("hr"),
    make("button", { type: "button", class: "entry", onclick: () => popover.dispatchEvent(new CustomEvent("history-clear")) }, make("span", {}, "Clear the history"), make("small", {}, `${entries.length} in this browser`)),
  );
}
