/**
 * `<launch-panel>`: what is compiled of the source, and how.
 *
 * @import { Argument, Kernel, Launch, Scalar } from "./types.js"
 */
import { make, setValue } from "./dom.js";
import { guessedArguments, kernelOf, launchOf } from "./draft.js";
import { adjust, choose } from "./edit.js";
import { literal, specializationTitle, targetTitle } from "./format.js";
import { keep, kept } from "./storage.js";
import { store } from "./store.js";

const OPTIONS = [
  { name: "num_warps", title: "warps", choices: ["1", "2", "4", "8", "16", "32"] },
  { name: "num_stages", title: "stages", choices: ["1", "2", "3", "4", "5", "6", "7"] },
  { name: "num_ctas", title: "CTAs", choices: ["1", "2", "4", "8"] },
  { name: "maxnreg", title: "max regs", choices: ["32", "64", "96", "128", "168", "255"] },
];
const TYPES = [
  "*fp16", "*bf16", "*fp32", "*fp64", "*fp8e4nv", "*fp8e5", "*i1", "*i8", "*i16", "*i32", "*i64", "*u8",
  "i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64", "constexpr",
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
        type: "text", inputmode: "numeric", pattern: "[0-9]*", list: list.id, "aria-label": title, autocomplete: "off",
        oninput: () => this.changeOption(name, input),
      });
      return { name, input, label: make("label", { class: "option" }, make("span", {}, title), input, list) };
    });
    this.configs = make("div", { class: "chips", role: "group", "aria-label": "Autotune configurations" });
    this.body = make(
      "div",
      { id: "launch-body" },
      make("div", { class: "row" }, this.target, this.triton),
      make("div", { class: "row" }, this.kernel, this.launch),
      this.argumentsBox,
      make("div", { class: "options" }, ...this.optionInputs.map(({ label }) => label)),
      this.configs,
      make("datalist", { id: "argument-types" }, ...TYPES.map((value) => make("option", { value }))),
    );
    this.append(make("div", { class: "panel-title" }, this.title_, this.toggle), this.body);
    // A small window opens for reading.
    this.collapse((kept(COLLAPSED_KEY) ?? (matchMedia("(max-width: 720px)").matches ? "1" : "0")) === "1");
    store.watch(["targets", "tritons", "draft"], () => this.drawTarget());
    store.watch(["draft", "inspection", "result", "run"], () => this.drawLaunch());
  }

  collapsed = false;

  /** @param {boolean} collapsed */
  collapse(collapsed) {
    this.collapsed = collapsed;
    this.body?.toggleAttribute("hidden", collapsed);
    this.toggle?.setAttribute("aria-expanded", String(!collapsed));
    this.toggle?.setAttribute("aria-label", collapsed ? "Show the launch" : "Hide the launch");
    if (this.toggle) this.toggle.textContent = collapsed ? "▴" : "▾";
  }

  toggleCollapsed() {
    this.collapse(!this.collapsed);
    keep(COLLAPSED_KEY, this.collapsed ? "1" : "0");
  }

  drawTarget() {
    const { targets, tritons, draft } = store.state;
    const { target, triton } = this;
    if (!target || !triton) return;
    if (target.options.length !== targets.length) {
      const vendors = grouped(targets);
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
  }

  drawLaunch() {
    const { draft, inspection, result } = store.state;
    if (!this.kernel || !this.launch || !this.title_ || !this.argumentsBox || !this.configs) return;
    const kernel = kernelOf(draft, inspection);
    const launch = launchOf(draft, inspection);
    const kernels = inspection?.kernels ?? [];
    fill(this.kernel, kernels.map(({ name, line }) => ({ value: name, text: `${name}, line ${line}` })), kernel?.name ?? "", "no kernel found");
    const launches = (inspection?.launches ?? []).filter((each) => each.kernel === kernel?.name);
    fill(
      this.launch,
      [
        ...launches.map((each) => ({ value: String(each.index), text: `line ${each.line}${each.grid ? ` · grid ${each.grid.join(" × ")}` : ""}` })),
        ...(launches.length ? [] : [{ value: "", text: "no launch: guessed arguments" }]),
        { value: "form", text: "arguments by hand" },
        { value: "signature", text: "signature as a string" },
      ],
      draft.mode === "launch" ? String(launch?.index ?? "") : draft.mode,
      "",
    );
    this.title_.textContent =
      draft.mode === "form" ? "Launch · by hand"
      : draft.mode === "signature" ? "Launch · by signature"
      : launch ? `Launch · found at line ${launch.line}`
      : "Launch · guessed";
    this.drawArguments(kernel, launch);
    const specialization = result?.document.kernel === kernel?.name ? result?.document.specialization : null;
    const config = draft.config ?? (draft.mode === "launch" ? (launch?.config ?? specialization?.config ?? null) : null);
    const inherited = { ...launch?.options, ...kernel?.configs.find(({ index }) => index === config)?.options, ...(specialization?.config === config ? specialization?.options : {}) };
    for (const { name, input } of this.optionInputs ?? []) {
      const value = draft.options[name];
      if (document.activeElement !== input) setValue(input, value === undefined || value === null ? "" : String(value));
      input.placeholder = inherited[name] === undefined || inherited[name] === null ? "auto" : literal(inherited[name]);
    }
    this.drawConfigs(kernel, config);
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
      // A row that is being typed in is not drawn anew.
      if (!box.contains(document.activeElement)) box.replaceChildren(argumentForm(draft.arguments));
      return;
    }
    const specialization = result?.document.kernel === kernel?.name ? result?.document.specialization : null;
    const shown = launch?.arguments ?? specialization?.arguments ?? (kernel ? guessedArguments(kernel) : []);
    const chosen = draft.config ?? launch?.config ?? null;
    const configured = kernel?.configs.find(({ index }) => index === chosen)?.arguments ?? {};
    box.replaceChildren(argumentTable(shown.map((each) => (each.name in configured ? { ...each, value: configured[each.name] ?? null } : each))));
  }

  /** @param {Kernel | null} kernel @param {number | null} config */
  drawConfigs(kernel, config) {
    const configs = kernel?.configs ?? [];
    const key = JSON.stringify([configs, config]);
    if (!this.configs || this.configs.dataset.key === key) return;
    this.configs.dataset.key = key;
    this.configs.replaceChildren(
      ...configs.map((each) => {
        const details = Object.entries(each.arguments).map(([name, value]) => `${name} ${literal(value)}`).join(", ");
        const values = Object.values(each.arguments).map(literal).join("·");
        return make(
          "button",
          {
            type: "button", class: "chip", "aria-pressed": String(each.index === config), title: details,
            onclick: () => choose({ config: each.index, options: {} }),
          },
          configTitle(each.options),
          values ? make("small", {}, values) : null,
        );
      }),
    );
    this.configs.toggleAttribute("hidden", configs.length === 0);
  }

  /** @param {string} name */
  chooseKernel(name) {
    choose({ kernel: name, launch: null, config: null, mode: "launch", options: {} });
  }

  /** @param {string} value */
  chooseLaunch(value) {
    const { draft, inspection } = store.state;
    const kernel = kernelOf(draft, inspection);
    const launch = launchOf(draft, inspection);
    if (value === "form") {
      const begin = launch?.arguments ?? (kernel ? guessedArguments(kernel) : []);
      choose({ mode: "form", kernel: kernel?.name ?? null, launch: null, config: null, arguments: structuredClone(begin), options: this.effectiveOptions() });
    } else if (value === "signature") {
      const signature = store.state.result?.document.specialization?.signature ?? "";
      choose({ mode: "signature", kernel: kernel?.name ?? null, launch: null, config: null, signature: draft.signature || signature, options: this.effectiveOptions() });
    } else {
      choose({ mode: "launch", kernel: kernel?.name ?? null, launch: value === "" ? null : Number(value), config: null, options: {} });
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
    const options = { ...store.state.draft.options };
    const text = input.value.trim();
    if (text === "") delete options[name];
    else if (/^\d+$/.test(text)) options[name] = Number(text);
    input.setCustomValidity(text === "" || /^\d+$/.test(text) ? "" : "A whole number");
    if (input.validity.valid) adjust({ options });
  }
}

/**
 * The arguments of a launch, those of one kind and value in one row, and all constants in one.
 * @param {Argument[]} shown
 */
function argumentTable(shown) {
  /** @type {Map<string, Argument[]>} */
  const rows = new Map();
  for (const argument of shown) {
    const isConstant = argument.specialization === "constexpr";
    const key = JSON.stringify([argument.type, argument.specialization, isConstant || valueOf(argument)]);
    const members = rows.get(key);
    if (members) members.push(argument);
    else rows.set(key, [argument]);
  }
  return make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...["argument", "type", "specialised", "value"].map((title) => make("th", { scope: "col" }, title)))),
    make(
      "tbody",
      {},
      ...[...rows.values()].map((members) => {
        const first = /** @type {Argument} */ (members[0]);
        const values = members.map(valueOf);
        const names = members.map(({ name }) => name).join(", ");
        return make(
          "tr",
          {},
          make("td", { title: names }, names),
          make("td", { title: first.type }, first.type),
          make("td", { class: "words" }, specializationTitle(first)),
          make("td", {}, (new Set(values).size === 1 ? values.slice(0, 1) : values).join(", ")),
        );
      }),
    ),
  );
}

/** @param {Argument} argument */
function valueOf({ shape, value, type }) {
  if (shape) return shape.length ? shape.join("\u00a0×\u00a0") : "scalar";
  return value === null && type !== "constexpr" ? "" : literal(value);
}

/**
 * A row of controls for each argument.
 * @param {Argument[]} shown
 */
function argumentForm(shown) {
  const change = (/** @type {number} */ index, /** @type {Partial<Argument>} */ changes) => {
    const next = store.state.draft.arguments.map((each, at) => (at === index ? { ...each, ...changes } : each));
    adjust({ arguments: next });
  };
  return make(
    "table",
    { class: "form" },
    make("thead", {}, make("tr", {}, ...["argument", "type", "specialised", "value"].map((title) => make("th", { scope: "col" }, title)))),
    make(
      "tbody",
      {},
      ...shown.map((argument, index) => {
        const value = make("input", {
          type: "text", "aria-label": `Value of ${argument.name}`, value: argument.value === null ? "" : literal(argument.value),
          oninput: () => change(index, { value: scalarOf(value.value) }),
        });
        const specialization = make(
          "select",
          { "aria-label": `Specialisation of ${argument.name}`, onchange: () => change(index, { specialization: specialization.value }) },
          make("option", { value: "" }, "none"),
          make("option", { value: "divisible by 16" }, "divisible by 16"),
          make("option", { value: "equal to 1" }, "equal to 1"),
        );
        const type = make("input", {
          type: "text", "aria-label": `Type of ${argument.name}`, value: argument.type, list: "argument-types", autocomplete: "off",
          oninput: () => {
            enable();
            change(index, { type: type.value.trim(), specialization: type.value === "constexpr" ? "constexpr" : specialization.value, shape: null, strides: null });
          },
        });
        const enable = () => {
          const isConstant = type.value.trim() === "constexpr";
          specialization.disabled = isConstant;
          value.disabled = !isConstant;
        };
        specialization.value = argument.specialization === "constexpr" ? "" : argument.specialization;
        enable();
        return make("tr", {}, make("td", {}, argument.name), make("td", {}, type), make("td", {}, specialization), make("td", {}, value));
      }),
    ),
  );
}

/** A constexpr as Python would read it. @param {string} text @returns {Scalar} */
function scalarOf(text) {
  const trimmed = text.trim();
  if (trimmed === "None" || trimmed === "") return null;
  if (trimmed === "True") return true;
  if (trimmed === "False") return false;
  if (/^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+)$/.test(trimmed)) return Number(trimmed);
  return trimmed.replace(/^(["'])(.*)\1$/, "$2");
}

/** @param {Record<string, Scalar>} options */
function configTitle(options) {
  const parts = [];
  if (options.num_warps !== undefined) parts.push(`${options.num_warps} warps`);
  if (options.num_stages !== undefined) parts.push(`${options.num_stages} stages`);
  if (Number(options.num_ctas) > 1) parts.push(`${options.num_ctas} CTAs`);
  return parts.join(" · ") || "defaults";
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

/** @param {import("./types.js").Target[]} targets */
function grouped(targets) {
  /** @type {Map<string, import("./types.js").Target[]>} */
  const groups = new Map();
  for (const target of targets) groups.set(target.vendor, [...(groups.get(target.vendor) ?? []), target]);
  return groups;
}

customElements.define("launch-panel", LaunchPanel);
