/**
 * The Compare menu: another variant of what is shown, compiled if need be, beside it.
 *
 * @import { CompilationDocument, Config, Draft } from "./types.js"
 */
import { ApiError, api } from "./api.js";
import { register } from "./commands.js";
import { comparisonUrl, parseView } from "./compare/address.js";
import { byId, make, toast } from "./dom.js";
import { draftOf, requestOf } from "./draft.js";
import { ago, literal, targetTitle } from "./format.js";
import { earlierVersions, expectOwn } from "./history.js";
import { menu } from "./popover.js";
import { stageTitle } from "./stages.js";
import { store } from "./store.js";

const WARPS = [1, 2, 4, 8, 16, 32];
const STAGES = [1, 2, 3, 4, 5];
const MOST_THREADS = 1024;
const MOST_VERSIONS = 8;
/** `/k/<id>` of any server, an embedded one, or the id alone. */
const LINK = /(?:^|\/(?:k|embed)\/)([1-9A-HJ-NP-Za-km-z]{8,64})(?:[?#].*)?$/;

export function startCompareMenu() {
  const popover = menu("compare-menu", "compare-button");
  popover.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") draw(popover);
  });
  register([{ name: "compare", title: "Compare with …", group: "Page", run: () => byId("compare-button").click() }]);
}

/** @param {HTMLElement} popover */
function draw(popover) {
  const shown = store.state.failure ?? store.state.result;
  if (!shown) {
    popover.replaceChildren(make("p", { class: "hint" }, "Compile something first: there is nothing to compare yet."));
    return;
  }
  const { document } = shown;
  const { targets, tritons } = store.state;
  const draft = draftOf(document);
  const options = document.specialization?.options ?? {};
  const { threads, warps } = document.resources ?? {};
  const lanes = typeof threads === "number" && typeof warps === "number" && warps > 0 ? threads / warps : 32;
  /** @param {string} name @param {number[]} values */
  const option = (name, values) =>
    values.filter((value) => value !== options[name]).map((value) => chip(String(value), { ...draft, options: { ...draft.options, [name]: value } }));
  popover.replaceChildren(
    make("p", { class: "hint" }, "Beside ", make("b", {}, document.kernel ?? "this result"), ", with another …"),
    ...section("configuration", configsOf(document).map((config) => chip(configWords(config), { ...draft, config: config.index }))),
    ...section("num_warps", document.specialization ? option("num_warps", WARPS.filter((value) => value * lanes <= MOST_THREADS)) : []),
    ...section("num_stages", document.specialization ? option("num_stages", STAGES) : []),
    ...section("target", targets.filter(({ name }) => name !== draft.target).map((target) => chip(targetTitle(target), { ...draft, target: target.name }))),
    ...section("Triton", tritons.versions.filter((version) => version !== draft.triton).map((version) => chip(version, { ...draft, triton: version }))),
    ...section("version of this kernel", earlierVersions(document).slice(0, MOST_VERSIONS).map((entry) =>
      make("a", { class: "entry", href: comparisonUrl(entry.id, document.id), title: entry.title }, make("span", {}, entry.facts || entry.title), make("small", {}, `${entry.target}, ${ago(Date.now() - entry.at)}`)))),
    ...section("stage of the same", twoStages(document)),
    linkForm(document.id),
  );
}

/** @param {string} title @param {HTMLElement[]} entries @returns {HTMLElement[]} nothing where there is no choice */
function section(title, entries) {
  if (entries.length === 0) return [];
  return [make("section", { class: "compare-choices", "aria-label": title }, make("h2", {}, title), make("div", { class: "chips" }, ...entries))];
}

/** @param {string} words @param {Draft} draft */
function chip(words, draft) {
  return make("button", { type: "button", class: "chip", onclick: () => void compareWith(draft) }, words);
}

/** The configurations of the autotuner that were not chosen. @param {CompilationDocument} document @returns {Config[]} */
function configsOf({ kernels, kernel, specialization }) {
  const all = kernels.find(({ name }) => name === kernel)?.configs ?? [];
  return all.filter(({ index }) => index !== specialization?.config);
}

/** @param {Config} config */
function configWords(config) {
  return Object.entries({ ...config.arguments, ...config.options }).map(([name, value]) => `${name} ${literal(value)}`).join(", ") || `configuration ${config.index}`;
}

/** Two stages of one result: those in sight, or the first that a compiler pass has written. @param {CompilationDocument} document */
function twoStages({ id, stages }) {
  const names = stages.map(({ name }) => name);
  const visible = store.state.visible.filter((name) => names.includes(name));
  const [before, after] = visible.length > 1 ? visible : names.slice(1);
  if (!before || !after) return [];
  const view = { ...parseView(""), show: /** @type {const} */ ("stage"), before, after };
  return [make("a", { class: "chip", href: comparisonUrl(id, id, view) }, `${stageTitle(before)} → ${stageTitle(after)}`)];
}

/** @param {string} id */
function linkForm(id) {
  const field = make("input", { type: "text", placeholder: "link or id of another result", "aria-label": "Link or id of another result", autocomplete: "off", spellcheck: "false", oninput: () => field.setCustomValidity("") });
  return make(
    "form",
    {
      class: "compare-link",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const other = LINK.exec(field.value.trim())?.[1];
        if (other) return location.assign(comparisonUrl(id, other));
        field.setCustomValidity("Paste the address of a result, such as /k/7Qm2xV9dKcAB.");
        return void field.reportValidity();
      },
    },
    field,
    make("button", { class: "button" }, "Compare"),
  );
}

/** Ask for a variant, and show it beside what is shown as soon as the server knows of it. @param {Draft} draft */
async function compareWith(draft) {
  const shown = store.state.failure ?? store.state.result;
  if (!shown) return;
  try {
    const { id } = await api.compile(requestOf(draft));
    expectOwn(id);
    location.assign(comparisonUrl(shown.id, id));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`${error.problem.title}. ${error.problem.detail}`);
  }
}
