/**
 * The choice of several targets and Triton versions, as check boxes.
 *
 * @import { Draft, Target } from "../core/types.js"
 *
 * The names of the targets, and the Triton versions; none: as the draft has them.
 * @typedef {{targets: Set<string>, tritons: Set<string>}} Choice
 * @typedef {{target: Target, triton: string}} Place
 */
import { groupedByVendor } from "../core/format.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";

/** @param {Choice} choice @param {(choice: Choice) => void} choose */
export function targetChoices(choice, choose) {
  const { targets, tritons } = store.state;
  /** @param {keyof Choice} of @param {string} value @param {string} text @param {string} more */
  const box = (of, value, text, more) => {
    const change = (/** @type {{target: HTMLInputElement}} */ { target }) => {
      const chosen = new Set(choice[of]);
      if (target.checked) chosen.add(value);
      else chosen.delete(value);
      choose({ targets: choice.targets, tritons: choice.tritons, [of]: chosen });
    };
    return html`<label class="check"
      ><input type="checkbox" .checked=${live(choice[of].has(value))} @change=${change}
      ><span>${text}${more ? html`<small> ${more}</small>` : nothing}</span></label
    >`;
  };
  return html`<div class="target-choices">
    ${[...groupedByVendor(targets)].map(([vendor, members]) =>
      group(
        vendor,
        members.map(({ name, architecture, title }) => box("targets", name, architecture, title)),
      ),
    )}
    ${group(
      "Triton",
      tritons.versions.map((version) => box("tritons", version, version, "")),
    )}
  </div>`;
}

/** @param {string} title @param {unknown[]} choices */
function group(title, choices) {
  return html`<fieldset><legend>${title}</legend>${choices}</fieldset>`;
}

/** The chosen Triton versions, or else the version of the draft. @param {Choice} choice @param {Draft} draft */
export function chosenVersions({ tritons: chosen }, draft) {
  const { tritons } = store.state;
  const versions = tritons.versions.filter((version) => chosen.has(version));
  return versions.length ? versions : [draft.triton ?? tritons.default];
}
