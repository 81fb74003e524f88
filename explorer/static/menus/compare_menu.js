/**
 * The Compare menu: compare the shown result with a variant, which is compiled if necessary.
 *
 * @import { CompilationDocument, Config, Draft } from "../core/types.js"
 * @import { Result } from "../core/result.js"
 * @import { Column } from "../launch/variant_rows.js"
 */
import { ApiError, api } from "../core/api.js";
import { comparisonUrl, orderedUrl, parseView } from "../compare/address.js";
import { toast } from "../core/dom.js";
import { configColumns, configValue } from "../launch/config_variants.js";
import { draftOf, requestOf } from "../launch/draft.js";
import { ago, literal, targetTitle } from "../core/format.js";
import { html, nothing, render } from "../core/template.js";
import { expectOwn } from "./expected_results.js";
import { earlierVersions } from "./history.js";
import { stageTitle } from "../core/stages.js";
import { store } from "../core/store.js";

const WARPS = [1, 2, 4, 8, 16, 32];
const STAGES = [1, 2, 3, 4, 5];
const MOST_THREADS = 1024;
const MOST_VERSIONS = 8;
const NOTHING = "Compile something first: there is nothing to compare yet.";
/** `/k/<id>` of any server, an embedded one, or the id alone. */
const LINK = /(?:^|\/(?:k|embed)\/)([1-9A-HJ-NP-Za-km-z]{8,64})(?:[?#].*)?$/;

/** @param {HTMLElement} popover */
export function draw(popover) {
  const shown = store.state.failure ?? store.state.result;
  render(shown ? choicesBeside(shown) : html`<p class="hint">${NOTHING}</p>`, popover);
}

/** @param {Result} shown */
function choicesBeside({ document }) {
  const { targets, tritons } = store.state;
  const draft = draftOf(document);
  const options = document.specialization?.options ?? {};
  const { threads, warps } = document.resources ?? {};
  const lanes = typeof threads === "number" && typeof warps === "number" && warps > 0 ? threads / warps : 32;
  /** @param {string} name @param {number[]} values */
  const option = (name, values) =>
    document.specialization
      ? values
          .filter((value) => value !== options[name])
          .map((value) => chip(String(value), { ...draft, options: { ...draft.options, [name]: value } }))
      : [];
  const warpChoices = WARPS.filter((value) => value * lanes <= MOST_THREADS);
  const configs = configsOf(document);
  const { columns } = configColumns(configs);
  const configChips = configs
    .filter(({ index }) => index !== document.specialization?.config)
    .map((config) => chip(configWords(config, columns), { ...draft, config: config.index }));
  const otherTargets = targets
    .filter(({ name }) => name !== draft.target)
    .map((target) => chip(targetTitle(target), { ...draft, target: target.name }));
  const versions = tritons.versions
    .filter((version) => version !== draft.triton)
    .map((version) => chip(version, { ...draft, triton: version }));
  const earlier = earlierVersions(document)
    .slice(0, MOST_VERSIONS)
    .map(
      ({ id, title, facts, target, triton, at }) =>
        html`<a class="entry" href=${orderedUrl({ id, triton }, document)} title=${title}
          ><span>${facts || title}</span><small>${target}, ${ago(Date.now() - at)}</small></a
        >`,
    );
  return html`<p class="hint">Beside <b>${document.kernel ?? "this result"}</b>, with another …</p>
    ${section("configuration", configChips)} ${section("num_warps", option("num_warps", warpChoices))}
    ${section("num_stages", option("num_stages", STAGES))} ${section("target", otherTargets)}
    ${section("Triton", versions)} ${section("version of this kernel", earlier)}
    ${section("stage of the same", twoStages(document))} ${linkForm(document.id)}`;
}

/** @param {string} title @param {unknown[]} entries nothing is drawn where there is no choice */
function section(title, entries) {
  if (entries.length === 0) return nothing;
  return html`<section class="compare-choices" aria-label=${title}>
    <h2>${title}</h2>
    <div class="chips">${entries}</div>
  </section>`;
}

/** @param {string} words @param {Draft} draft */
function chip(words, draft) {
  return html`<button type="button" class="chip" @click=${() => void compareWith(draft)}>${words}</button>`;
}

/** The configurations of the autotuner. @param {CompilationDocument} document @returns {Config[]} */
function configsOf({ kernels, kernel }) {
  return kernels.find(({ name }) => name === kernel)?.configs ?? [];
}

/**
 * Return the values of a configuration that differ from the other configurations.
 * @param {Config} config
 * @param {Column[]} columns
 */
function configWords(config, columns) {
  const parts = columns
    .filter(({ name }) => configValue(config, name) !== undefined)
    .map(({ name }) => `${name} ${literal(configValue(config, name))}`);
  return parts.join(", ") || `configuration ${config.index}`;
}

/**
 * Two stages of one result: those in sight, or the first that a compiler pass has written.
 * @param {CompilationDocument} document
 */
function twoStages({ id, stages }) {
  const names = stages.map(({ name }) => name);
  const visible = store.state.visible.filter((name) => names.includes(name));
  const [before, after] = visible.length > 1 ? visible : names.slice(1);
  if (!before || !after) return [];
  const view = { ...parseView(""), show: /** @type {const} */ ("stage"), before, after };
  const words = `${stageTitle(before)} → ${stageTitle(after)}`;
  return [html`<a class="chip" href=${comparisonUrl(id, id, view)}>${words}</a>`];
}

/** @param {string} id */
function linkForm(id) {
  const compare = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (
      /** @type {HTMLFormElement} */ (event.currentTarget).elements[0]
    );
    const other = LINK.exec(field.value.trim())?.[1];
    if (other) return location.assign(comparisonUrl(id, other));
    field.setCustomValidity("Paste the address of a result, such as /k/7Qm2xV9dKcAB.");
    return void field.reportValidity();
  };
  const accept = (/** @type {InputEvent} */ event) =>
    /** @type {HTMLInputElement} */ (event.currentTarget).setCustomValidity("");
  return html`<form class="compare-link" @submit=${compare}>
    <input
      type="text"
      placeholder="link or id of another result"
      aria-label="Link or id of another result"
      autocomplete="off"
      spellcheck="false"
      .value=${""}
      @input=${accept}
    />
    <button class="button">Compare</button>
  </form>`;
}

/**
 * Submit a variant, and open its comparison with the shown result.
 * @param {Draft} draft
 */
async function compareWith(draft) {
  const shown = store.state.failure ?? store.state.result;
  if (!shown) return;
  try {
    const { id } = await api.compile(requestOf(draft));
    expectOwn(id);
    location.assign(orderedUrl(shown.document, { id, triton: draft.triton }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`${error.problem.title}. ${error.problem.detail}`);
  }
}
