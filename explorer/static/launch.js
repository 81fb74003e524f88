/**
 * `<launch-panel>`: what is compiled of the source, and how.
 *
 * @import { Argument, Kernel, Launch } from "./types.js"
 */
import { OPTION_PREFIX, optionProblem } from "./argument_checks.js";
import { register } from "./commands.js";
import { make, setText, setValue } from "./dom.js";
import { guessedArguments, kernelOf, launchOf } from "./draft.js";
import { adjust, choose } from "./edit.js";
import { literal, targetTitle } from "./format.js";
import { ArgumentForm, argumentTable } from "./launch_arguments.js";
import { launchState } from "./launch_state.js";
import { ConfigVariants, TargetVariants, groupedByVendor } from "./launch_variants.js";
import { keep, kept } from "./storage.js";
import { store } from "./store.js";
import { rememberResults } from "./variants.js";

const OPTIONS = [
  { name: "num_warps", title: "warps", choices: ["1", "2", "4", "8", "16", "32"] },
  { name: "num_stages", title: "stages", choices: ["1", "2", "3", "4", "5", "6", "7"] },
  { name: "num_ctas", title: "CTAs", choices: ["1", "2", "4", "8"] },
  { name: "maxnreg", title: "max regs", choices: ["32", "64", "96", "128", "168", "255"] },
];
const COLLAPSED_KEY = "launch-collapsed";

class LaunchPanel extends HTMLElement {
  connectedCallback() {
    if (this.body) return;
    this.title_ = make("h2", {});
    this.toggle = make("button", { type: "button", class: "tool", "aria-controls": "launch-body", onclick: () => this.toggleCollapsed() });
    this.target = make("select", { "aria-label": "Target", class: "grow", onchange: () => choose({ target: this.target?.value ?? "" }) });
    this.triton = make("select", { "aria-label": "Triton version", onchange: () => choose({ triton: this.triton?.value || null }) });
    this.kernel = make("select", { "aria-label": "Kernel", class: "grow", onchange: () => this.chooseKernel(this.kernel?.value ?? "") });
    this.launch = make("select", { "aria-label": "Launch", class: "grow", onchange: () => this.chooseLaunch(this.launch?.value ?? "") });
    this.argumentsBox = make("div", { class: "arguments" });
    this.optionInputs = OPTIONS.map(({ name, title, choices }) => {
      const list = make("datalist", { id: `choices-${name}` }, ...choices.map((value) => make("option", { value })));
      const input = make("input", {
        type: "text", inputmode: "numeric", list: list.id, "aria-label": title, autocomplete: "off", "aria-describedby": "option-problem",
        oninput: () => this.changeOption(name, input),
      });
      return { name, title, input, label: make("label", { class: "option" }, make("span", {}, title), input, list) };
    });
    this.hint = make("p", { class: "hint state-hint" });
    this.optionProblem = make("p", { class: "cell-problem", id: "option-problem", role: "alert" });
    this.form = new ArgumentForm();
    this.configs = new ConfigVariants();
    this.several = new TargetVariants();
    this.types = make("datalist", { id: "argument-types" });
    this.body = make(
      "div",
      { id: "launch-body" },
      make("div", { class: "row" }, this.target, this.triton, this.several.button),
      this.several.box,
      make("div", { class: "row" }, this.kernel, this.launch),
      this.hint,
      this.argumentsBox,
      make("div", { class: "options" }, ...this.optionInputs.map(({ label }) => label)),
      this.optionProblem,
      this.configs.box,
      this.types,
    );
    this.append(make("div", { class: "panel-title" }, this.title_, this.toggle), this.body);
    // A small window opens for reading.
    this.collapse((kept(COLLAPSED_KEY) ?? (matchMedia("(max-width: 720px)").matches ? "1" : "0")) === "1");
    store.watch(["targets", "tritons", "draft"], () => this.drawTarget());
    store.watch(["draft", "inspection", "inspectionProblem", "result", "failure", "run", "sending"], () => this.drawLaunch());
    store.watch(["argumentTypes"], () => {
      const scalars = store.state.argumentTypes;
      this.types?.replaceChildren(...[...scalars.map((type) => `*${type}`), ...scalars, "constexpr"].map((value) => make("option", { value })));
    });
    rememberResults();
    register([
      { name: "compile-configs", title: "Compile all configurations", group: "Compile", run: () => this.configs?.table.compileAll() },
      { name: "several-targets", title: "Compile for several targets", group: "Compile", run: () => this.openSeveral() },
    ]);
  }

  collapsed = false;

  /** @param {boolean} collapsed */
  collapse(collapsed) {
    this.collapsed = collapsed;
    this.body?.toggleAttribute("hidden", collapsed);
    this.toggle?.setAttribute("aria-expanded", String(!collapsed));
    this.toggle?.setAttribute("aria-label", collapsed ? "Show the launch" : "Hide the launch");
    if (this.toggle) setText(this.toggle, collapsed ? "▴" : "▾");
  }

  toggleCollapsed() {
    this.collapse(!this.collapsed);
    keep(COLLAPSED_KEY, this.collapsed ? "1" : "0");
  }

  openSeveral() {
    this.collapse(false);
    if (this.several?.box.hidden) this.several.toggle();
    else this.several?.choices.querySelector("input")?.focus();
  }

  drawTarget() {
    const { targets, tritons, draft } = store.state;
    const { target, triton } = this;
    if (!target || !triton) return;
    if (target.options.length !== targets.length) {
      const vendors = groupedByVendor(targets);
      target.replaceChildren(
        ...[...vendors].map(([vendor, members]) =>
          make("optgroup", { label: vendor }, ...members.map((each) => make("option", { value: each.name }, targetTitle(each))))),
      );
    }
    setValue(target, draft.target);
    const versions = tritons.versions;
    if (triton.options.length !== versions.length) {
      triton.replaceChildren(...versions.map((version) => make("option", { value: version }, `Triton ${version}`)));
    }
    setValue(triton, draft.triton ?? tritons.default);
    this.several?.draw(draft);
  }

  drawLaunch() {
    const { draft, inspection, inspectionProblem, result } = store.state;
    if (!this.kernel || !this.launch || !this.title_ || !this.argumentsBox || !this.configs) return;
    const kernel = kernelOf(draft, inspection);
    const launch = launchOf(draft, inspection);
    const kernels = inspection?.kernels ?? [];
    const looking = !inspection && !inspectionProblem && draft.source.trim() ? "looking …" : null;
    fill(this.kernel, kernels.map(({ name, line }) => ({ value: name, text: `${name}, line ${line}` })), kernel?.name ?? "", looking ?? "no kernel found");
    const launches = (inspection?.launches ?? []).filter((each) => each.kernel === kernel?.name);
    fill(
      this.launch,
      [
        ...launches.map((each) => ({ value: String(each.index), text: `line ${each.line}${each.grid ? ` · grid ${each.grid.join(" × ")}` : ""}` })),
        ...(launches.length ? [] : [{ value: "", text: looking ?? "no launch: guessed arguments" }]),
        { value: "form", text: "arguments by hand" },
        { value: "signature", text: "signature as a string" },
      ],
      draft.mode === "launch" ? String(launch?.index ?? "") : draft.mode,
      "",
    );
    const state = launchState(kernel, launch);
    setText(this.title_, state.title);
    if (this.hint) {
      setText(this.hint, state.hint);
      this.hint.hidden = !state.hint;
      this.hint.classList.toggle("warning", Boolean(state.isProblem));
    }
    this.drawArguments(kernel, launch);
    const specialization = result?.document.kernel === kernel?.name ? result?.document.specialization : null;
    const config = draft.config ?? (draft.mode === "launch" ? (launch?.config ?? specialization?.config ?? null) : null);
    const inherited = { ...launch?.options, ...kernel?.configs.find(({ index }) => index === config)?.options, ...(specialization?.config === config ? specialization?.options : {}) };
    const problems = [];
    for (const { name, title, input } of this.optionInputs ?? []) {
      const typed = draft.typed[OPTION_PREFIX + name];
      const value = draft.options[name];
      if (document.activeElement !== input) setValue(input, typed ?? (value === undefined || value === null ? "" : String(value)));
      input.placeholder = inherited[name] === undefined || inherited[name] === null ? "auto" : literal(inherited[name]);
      input.setAttribute("aria-invalid", String(typed !== undefined));
      if (typed !== undefined) problems.push(`${title}: ${optionProblem(typed)}`);
    }
    if (this.optionProblem) {
      setText(this.optionProblem, problems.join(" "));
      this.optionProblem.hidden = problems.length === 0;
    }
    this.configs.draw(draft, kernel, config);
  }

  /** @param {Kernel | null} kernel @param {Launch | null} launch */
  drawArguments(kernel, launch) {
    const { draft, result } = store.state;
    const box = /** @type {HTMLElement} */ (this.argumentsBox);
    if (draft.mode === "signature") {
      let input = /** @type {HTMLInputElement | null} */ (box.querySelector("input.signature"));
      if (!input) {
        const created = make("input", {
          type: "text", class: "signature", "aria-label": "Signature", spellcheck: "false",
          placeholder: "*fp16:16, *fp16:16, i32:16, 128", oninput: () => adjust({ signature: created.value }),
        });
        input = created;
        box.replaceChildren(input, make("p", { class: "hint" }, "Types in order; “:16” means divisible by 16, “:1” equal to 1, a plain number is a constexpr."));
      }
      if (document.activeElement !== input) setValue(input, draft.signature);
      return;
    }
    if (draft.mode === "form") {
      if (!this.form) return;
      if (this.form.table.parentElement !== box) box.replaceChildren(this.form.table);
      this.form.draw(draft);
      return;
    }
    const specialization = result?.document.kernel === kernel?.name ? result?.document.specialization : null;
    const shown = launch?.arguments ?? specialization?.arguments ?? (kernel ? guessedArguments(kernel) : []);
    const chosen = draft.config ?? launch?.config ?? null;
    const configured = kernel?.configs.find(({ index }) => index === chosen)?.arguments ?? {};
    const values = shown.map((each) => (each.name in configured ? { ...each, value: configured[each.name] ?? null } : each));
    const origin = launch ? "launch" : "guess";
    // A name that has the focus stays where it is.
    const key = JSON.stringify([values, origin]);
    if (box.dataset.key === key && box.firstElementChild?.tagName === "TABLE" && box.firstElementChild !== this.form?.table) return;
    box.dataset.key = key;
    box.replaceChildren(...(values.length ? [argumentTable(values, origin)] : []));
  }

  /** @param {string} name */
  chooseKernel(name) {
    choose({ kernel: name, launch: null, config: null, mode: "launch", options: {}, typed: {} });
  }

  /** @param {string} value */
  chooseLaunch(value) {
    const { draft, inspection } = store.state;
    const kernel = kernelOf(draft, inspection);
    const launch = launchOf(draft, inspection);
    if (value === "form") {
      const begin = (launch?.arguments ?? (kernel ? guessedArguments(kernel) : [])).map(unfolded);
      choose({ mode: "form", kernel: kernel?.name ?? null, launch: null, config: null, arguments: structuredClone(begin), typed: {}, options: this.effectiveOptions() });
    } else if (value === "signature") {
      const signature = store.state.result?.document.specialization?.signature ?? "";
      choose({ mode: "signature", kernel: kernel?.name ?? null, launch: null, config: null, signature: draft.signature || signature, typed: {}, options: this.effectiveOptions() });
    } else {
      choose({ mode: "launch", kernel: kernel?.name ?? null, launch: value === "" ? null : Number(value), config: null, options: {}, typed: {} });
    }
  }

  /** What is compiled with now, to go on from without the launch that says so. */
  effectiveOptions() {
    const { draft, result } = store.state;
    const known = result?.document.specialization?.options ?? {};
    const effective = OPTIONS.flatMap(({ name }) => {
      const value = draft.options[name] ?? known[name];
      return value === undefined || value === null ? [] : [/** @type {const} */ ([name, value])];
    });
    return Object.fromEntries(effective);
  }

  /** @param {string} name @param {HTMLInputElement} input */
  changeOption(name, input) {
    const { draft } = store.state;
    const options = { ...draft.options };
    const typed = { ...draft.typed };
    const text = input.value.trim();
    delete typed[OPTION_PREFIX + name];
    if (text === "") delete options[name];
    else if (optionProblem(text)) typed[OPTION_PREFIX + name] = input.value;
    else options[name] = Number(text);
    adjust({ options, typed });
  }
}

/** What was folded because it was 1 is an integer for whoever edits it. @param {Argument} argument @returns {Argument} */
function unfolded(argument) {
  return argument.specialization === "equal to 1" ? { ...argument, type: "i32" } : argument;
}

/**
 * Bring the options of a select up to date, if they have changed.
 * @param {HTMLSelectElement} select
 * @param {{value: string, text: string}[]} choices
 * @param {string} chosen
 * @param {string} empty what to say where there is nothing to choose
 */
function fill(select, choices, chosen, empty) {
  const wanted = choices.length ? choices : [{ value: "", text: empty }];
  const key = JSON.stringify(wanted);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...wanted.map(({ value, text }) => make("option", { value }, text)));
  }
  setValue(select, chosen);
}

customElements.define("launch-panel", LaunchPanel);
