/**
 * The list of passes: grouped by the stage that they lead to, each with its time and its changed lines.
 *
 * @import { PassMatches, PassRow } from "../../core/types.js"
 */
import { passCounts } from "../../compare/change_counts.js";
import { duration, plural } from "../../core/format.js";
import { hueClass, stageTitle } from "../../core/stages.js";
import { html, nothing, styles } from "../../core/template.js";

/**
 * @param {string} id of the list
 * @param {PassRow[]} passes
 * @param {PassRow | null} selected
 * @param {Set<number> | undefined} touched the marked passes, which touched an operation
 * @param {(pass: PassRow) => void} select
 * @param {Map<number, PassMatches> | null} found the matches of a search, by index; null: no search
 */
export function passGroups(id, passes, selected, touched, select, found = null) {
  const slowest = Math.max(...passes.map(({ milliseconds }) => milliseconds), 0.001);
  const stages = [...new Set(passes.map(({ stage }) => stage))];
  return stages.map(
    (
      stage,
    ) => html`<div class="pass-group ${hueClass(stage)}" role="group" aria-label="to ${stageTitle(stage)}">
      <h4 class="pass-stage" aria-hidden="true">to ${stageTitle(stage)}</h4>
      ${passes
        .filter((pass) => pass.stage === stage)
        .map(
          (pass) => html`<div
            class="pass ${pass.changed ? "" : "is-idle"} ${touched?.has(pass.index) ? "is-touched" : ""}"
            role="option"
            id="${id}-${pass.index}"
            aria-selected=${pass === selected}
            title=${touched?.has(pass.index) ? `${pass.title}: touched the operation` : pass.title}
            @click=${() => select(pass)}
          >
            <span class="pass-name">${pass.name}</span>${passFacts(pass, slowest, found?.get(pass.index))}
          </div>`,
        )}
    </div>`,
  );
}

/** @param {PassRow} pass @param {number} slowest ms @param {PassMatches | undefined} match */
function passFacts(pass, slowest, match) {
  const { changed, omitted, failed, milliseconds } = pass;
  const idle = omitted ? `not known: ${omitted}` : "no change";
  const share = `${Math.max(2, (100 * milliseconds) / slowest)}%`;
  return html`<span class="pass-facts">${
    milliseconds > 0
      ? html`<span class="track"><span class="bar" ${styles({ "--share": share })}></span></span
          ><span class="time">${duration(milliseconds)}</span>`
      : nothing
  }${failed ? html`<span class="failed">failed here</span>` : nothing}${
    !failed && !changed ? html`<span class="idle" title=${omitted}>${idle}</span>` : nothing
  }${match ? matchWords(match) : changed && pass.operations_added !== null ? passCounts(pass) : nothing}</span>`;
}

/**
 * What became of a text that is searched in all passes.
 * @param {PassMatches} match
 */
function matchWords({ before, after }) {
  const words = before === 0 ? "appears" : after === 0 ? "vanishes" : `${before} → ${plural(after, "line")}`;
  const count = before === 0 ? `, ${plural(after, "line")}` : "";
  return html`<span class="match is-${before === 0 ? "added" : after === 0 ? "removed" : "changed"}"
    >${words}${count}</span>`;
}
