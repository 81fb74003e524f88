/**
 * `<launch-panel>`: the kernel, its arguments, the configuration and the compiler options.
 *
 * @import { Argument, Draft, Kernel, Launch, Scalar } from "../core/types.js"
 * @import { TargetVariants } from "./target_variants.js"
 * @import { ValueVariants } from "./value_variants.js"
 */
import { argumentTable, otherConstants } from "./arguments.js";
import { compilerOptions, effectiveOptions } from "./compiler_options.js";
import { register } from "../core/commands.js";
import { configSection, configsOf, draftWithConfig } from "./config_variants.js";
import { chosenValue, toast } from "../core/dom.js";
import { canCompile, isFile } from "../core/host.js";
import { guessOf, kernelOf, launchOf, takesArguments, withSettings } from "./draft.js";
import { adjust, choose, compileNow } from "./edit.js";
import { groupedByVendor, targetTitle } from "../core/format.js";
import { Pane } from "../core/pane.js";
import { privacyOf } from "./privacy_words.js";
import { isStageText, launchState } from "./state.js";
import { gridWords, launchSummary } from "./summary.js";
import { keep, kept } from "../core/storage.js";
import { lineWords, sameSources } from "../core/source_files.js";
import { foundWords } from "../core/status.js";
import { store } from "../core/store.js";
import { html, live, nothing } from "../core/template.js";
import { compileVariants, rememberResults, variantOf } from "./variants.js";

const COLLAPSED_KEY = "launch-collapsed";

/** The choices of variants, by the property that shows them. */
const VARIANTS = {
  isSeveral: {
    element: "target-variants",
    load: () => import("./target_variants.js"),
    words: "Several…",
    title: "Compile for several targets and Triton versions",
  },
  isTrying: {
    element: "value-variants",
    load: () => import("./value_variants.js"),
    words: "Try values…",
    title: "Compile every combination of values of options and constants",
  },
};

class LaunchPanel extends Pane {
  static properties = {
    collapsed: { attribute: false },
    opened: { attribute: false },
    isSeveral: { state: true },
    isTrying: { state: true },
    hasMore: { state: true },
    rare: { state: true },
    words: { state: true },
  };

  static slices = /** @type {(typeof Pane)["slices"]} */ ([
    "targets",
    "tritons",
    "argumentTypes",
    "draft",
    "inspection",
    "inspectionProblem",
    "result",
    "failure",
    "run",
    "sending",
  ]);

  constructor() {
    super();
    this.collapsed = kept(COLLAPSED_KEY) !== "0";
    /** The arguments whose explanation is open. @type {Set<string>} */
    this.opened = new Set();
    /** Whether several targets can be chosen. */
    this.isSeveral = false;
    /** Whether lists of values can be entered. */
    this.isTrying = false;
    /** Whether the options are shown that few kernels need. */
    this.hasMore = false;
    /** The fields that few drafts need, once one did. @type {typeof import("./rare_fields.js") | null} */
    this.rare = null;
    /** The module that explains arguments; null: not loaded yet. @type {typeof import("./argument_words.js") | null} */
    this.words = null;
  }

  /** @override */
  connectedCallback() {
    super.connectedCallback();
    rememberResults();
    register([
      {
        name: "compile-configs",
        title: "Compile all configurations",
        group: "Compile",
        run: () => compileConfigs(),
      },
      {
        name: "several-targets",
        title: "Compile for several targets",
        group: "Compile",
        run: () => void this.openVariants("isSeveral"),
      },
      {
        name: "try-values",
        title: "Try values of options and constants",
        group: "Compile",
        run: () => void this.openVariants("isTrying"),
      },
    ]);
  }

  toggleCollapsed() {
    this.collapsed = !this.collapsed;
    keep(COLLAPSED_KEY, this.collapsed ? "1" : "0");
  }

  /** Show choices of variants, and move the focus there. @param {keyof typeof VARIANTS} name */
  async openVariants(name) {
    this.collapsed = false;
    this[name] = true;
    const { element, load } = VARIANTS[name];
    await Promise.all([load(), this.updateComplete]);
    await /** @type {TargetVariants | ValueVariants | null} */ (this.querySelector(element))?.begin();
  }

  /** Nothing that is set is hidden. @override */
  willUpdate() {
    if (setsMoreOptions()) this.hasMore = true;
  }

  /** @override */
  render() {
    const { draft, inspection, argumentTypes } = store.state;
    const kernel = kernelOf(draft, inspection);
    const launch = launchOf(draft, inspection);
    const { title, hint, isProblem } = launchState(kernel, launch);
    const config = configOf(draft, kernel, launch);
    const inherited = this.inheritedOptions(kernel, launch, config);
    const types = [...argumentTypes.map((type) => `*${type}`), ...argumentTypes, "constexpr"];
    return html`<div class="panel-title">
        ${this.fold(launchSummary(kernel, launch, title), isProblem ? hint : "")}
        <h2 class=${this.collapsed ? "visually-hidden" : ""}>${title}</h2>
        ${
          canCompile
            ? html`<button
                type="button"
                class="tool privacy"
                id="privacy-button"
                popovertarget="privacy-menu"
                aria-haspopup="true"
                title="Who may see the results"
                >${privacyOf(draft.private)}</button
              >`
            : nothing
        }
      </div>
      <fieldset id="launch-body" aria-label="Fields of the launch" ?disabled=${isFile} ?hidden=${this.collapsed}>
        <div class="row">${this.targets()}${this.variantsButton("isSeveral")}</div>
        <target-variants id="target-variants" ?hidden=${!this.isSeveral}></target-variants>
        <div class="row">${this.kernels(kernel)}${this.launches(kernel, launch)}</div>
        <p class=${`hint state-hint${isProblem ? " warning" : ""}`} ?hidden=${!hint}>${hint}</p>
        <div class="arguments">${this.arguments(kernel, launch)}</div>
        ${this.rareFields(kernel)}
        ${compilerOptions(inherited, html`${this.moreButton()}${this.variantsButton("isTrying")}`)}
        <div class="options more-options" id="more-options" ?hidden=${!this.hasMore}
          >${this.hasMore ? this.loadRare()?.moreOptions() : nothing}</div
        >
        <value-variants id="value-variants" ?hidden=${!this.isTrying} .inherited=${inherited}></value-variants>
        ${configSection(draft, kernel, config)}
        <datalist id="argument-types">${types.map((value) => html`<option value=${value}></option>`)}</datalist>
      </fieldset>`;
  }

  /**
   * The button that folds the panel to a line, which it shows then.
   * @param {string} summary @param {string} problem
   */
  fold(summary, problem) {
    return html`<button
      type="button"
      class="fold-launch"
      aria-controls="launch-body"
      aria-expanded=${String(!this.collapsed)}
      aria-label=${this.collapsed ? `Show the launch: ${summary}` : "Hide the launch"}
      title=${this.collapsed ? problem || summary : "Hide the launch"}
      @click=${() => this.toggleCollapsed()}
      ><span aria-hidden="true">${this.collapsed ? "▸" : "▾"}</span
      ><span class=${`summary${problem ? " warning" : ""}`} ?hidden=${!this.collapsed}>${summary}</span></button
    >`;
  }

  /**
   * Arguments of the script, numbers that are assumed, scripts and graph nodes of PyTorch, and edits of stages and passes.
   * @param {Kernel | null} kernel
   */
  rareFields(kernel) {
    const { draft, inspection } = store.state;
    const nodes = kernel?.graph_nodes ?? [];
    if (
      !inspection?.assumed.length &&
      !inspection?.output_code &&
      !nodes.length &&
      !draft.edits &&
      !takesArguments(draft)
    )
      return nothing;
    const rare = this.loadRare();
    if (!rare) return nothing;
    return html`${rare.scriptArguments()}${rare.graphNodes(nodes)}${rare.assumedNumbers()}${rare.outputCode()}${rare.editChips()}`;
  }

  /** The fields that few drafts need; null: they are being loaded. */
  loadRare() {
    if (!this.rare)
      void import("./rare_fields.js").then(
        (rare) => (this.rare = rare),
        () => undefined,
      );
    return this.rare;
  }

  /** The module that explains arguments. It is loaded after the first result; null: not loaded yet. */
  loadWords() {
    const { result, failure } = store.state;
    if (!this.words && (result?.finished || failure || this.opened.size))
      void import("./argument_words.js").then(
        (words) => (this.words = words),
        () => undefined,
      );
    return this.words;
  }

  /** The button that shows or hides the options that few kernels need. */
  moreButton() {
    const isSet = setsMoreOptions();
    return html`<button
      type="button"
      class="button small"
      aria-expanded=${String(this.hasMore)}
      aria-controls="more-options"
      title=${isSet ? "Shown while one of them is set" : "Contraction of floating-point operations, assembler"}
      ?disabled=${isSet}
      @click=${() => (this.hasMore = !this.hasMore)}
    >More options</button>`;
  }

  /** The button that shows or hides choices of variants. @param {keyof typeof VARIANTS} name */
  variantsButton(name) {
    const { element, words, title } = VARIANTS[name];
    return html`<button
      type="button"
      class="button small"
      aria-expanded=${String(this[name])}
      aria-controls=${element}
      title=${title}
      @click=${() => (this[name] ? (this[name] = false) : void this.openVariants(name))}
    >${words}</button>`;
  }

  targets() {
    const { targets, tritons, draft } = store.state;
    const chosen = draft.triton ?? tritons.default;
    return html`<select
        aria-label="Target"
        class="grow"
        @change=${(/** @type {Event} */ event) => choose({ target: chosenValue(event) })}
      >
        ${[...groupedByVendor(targets)].map(
          ([vendor, members]) =>
            html`<optgroup label=${vendor}>
              ${members.map((each) => option(each.name, targetTitle(each), each.name === draft.target))}
            </optgroup>`,
        )}
      </select>
      <select
        aria-label="Triton version"
        @change=${(/** @type {Event} */ event) => choose({ triton: chosenValue(event) || null })}
      >
        ${tritons.versions.map((version) => option(version, `Triton ${version}`, version === chosen))}
      </select>`;
  }

  /** @param {Kernel | null} chosen */
  kernels(chosen) {
    const kernels = store.state.inspection?.kernels ?? [];
    return html`<select
      aria-label="Kernel"
      class="grow"
      @change=${(/** @type {Event} */ event) =>
        choose({ ...NO_CHOICES, kernel: chosenValue(event), mode: "launch" })}
    >
      ${
        kernels.length
          ? kernels.map(({ name, line }) =>
              option(name, `${name}, ${lineWords(store.state.draft, line)}`, name === chosen?.name),
            )
          : option("", noKernelWords(), true)
      }
    </select>`;
  }

  /** @param {Kernel | null} kernel @param {Launch | null} launch */
  launches(kernel, launch) {
    const { draft, inspection } = store.state;
    const launches = (inspection?.launches ?? []).filter((each) => each.kernel === kernel?.name);
    const chosen = draft.mode === "launch" ? String(launch?.index ?? "") : draft.mode;
    const choices = [
      ...launches.map((each) => ({
        value: String(each.index),
        text: [lineWords(draft, each.line), ...gridWords(each, each === launch)].join(" · "),
      })),
      ...(launches.length
        ? []
        : [{ value: "", text: isInspecting() ? "inspecting …" : "no launch: guessed arguments" }]),
      { value: "form", text: "arguments by hand" },
      { value: "signature", text: "signature as a string" },
    ];
    if (kernel && isStageText(kernel)) choices.splice(0, choices.length, { value: "", text: "no launch" });
    return html`<select
      aria-label="Launch"
      class="grow"
      @change=${(/** @type {Event} */ event) => this.chooseLaunch(chosenValue(event))}
    >
      ${choices.map(({ value, text }) => option(value, text, value === chosen))}
    </select>`;
  }

  /** @param {Kernel | null} kernel @param {Launch | null} launch */
  arguments(kernel, launch) {
    const { draft } = store.state;
    const explained = {
      opened: this.opened,
      toggle: (/** @type {string} */ name) => this.explain(name),
      sentences: this.loadWords()?.argumentSentences ?? null,
    };
    if (draft.mode === "signature")
      return html`<input
          type="text"
          id="signature"
          class="signature"
          aria-label="Signature"
          spellcheck="false"
          placeholder="*fp16:16, *fp16:16, i32:16, 128"
          .value=${live(draft.signature)}
          @input=${(/** @type {Event} */ event) => adjust({ signature: chosenValue(event) })}
        />
        <p class="hint"
          >Types in order; “:16” means divisible by 16, “:1” equal to 1, a plain number is a constexpr.</p
        >`;
    const isByHand = draft.mode === "form";
    if (launch && !isByHand) {
      const chosen = draft.config ?? launch.config ?? null;
      const configured = {
        ...kernel?.configs.find(({ index }) => index === chosen)?.arguments,
        ...draft.constants,
      };
      const values = launch.arguments.map((each) =>
        each.name in configured ? { ...each, value: configured[each.name] ?? null } : each,
      );
      const within = specializationOf(kernel)?.within_2_gib ?? [];
      return values.length
        ? html`${argumentTable(values, explained, within)}${otherConstants(draft.constants)}`
        : nothing;
    }
    if (!isByHand && !kernel?.parameters.length) return nothing;
    const rare = this.loadRare();
    if (!rare) return nothing;
    const guess = isByHand || !kernel ? draft : { ...draft, ...guessOf(kernel, specializationOf(kernel)) };
    // A change of a guess begins to enter the arguments by hand, in the same controls: the focus stays.
    const enter = (/** @type {Partial<Draft>} */ changes) =>
      adjust(isByHand ? changes : { ...guess, kernel: kernel?.name, mode: "form", ...changes });
    const confirm = () => {
      enter({ guessed: {} });
      void compileNow();
    };
    return html`${rare.argumentForm(guess, explained, enter)}${
      canCompile && !isByHand
        ? html`<button
            type="button"
            class="button small confirm-guesses"
            title="Compile with these arguments as if you had entered them"
            @click=${confirm}
          >Confirm the guesses</button>`
        : nothing
    }`;
  }

  /** @param {string} name */
  explain(name) {
    const opened = new Set(this.opened);
    if (!opened.delete(name)) opened.add(name);
    this.opened = opened;
  }

  /**
   * The options that the kernel is compiled with where the draft sets none.
   * @param {Kernel | null} kernel @param {Launch | null} launch @param {number | null} config
   * @returns {Record<string, Scalar | undefined>}
   */
  inheritedOptions(kernel, launch, config) {
    const specialization = specializationOf(kernel);
    return {
      ...launch?.options,
      ...kernel?.configs.find(({ index }) => index === config)?.options,
      ...(specialization?.config === config ? specialization?.options : {}),
    };
  }

  /** @param {string} value */
  chooseLaunch(value) {
    const { draft, inspection } = store.state;
    const kernel = kernelOf(draft, inspection);
    const launch = launchOf(draft, inspection);
    const specialization = specializationOf(kernel);
    const chosen = { ...NO_CHOICES, kernel: kernel?.name ?? null };
    if (value === "form") {
      const begin = launch
        ? { arguments: withSettings({ ...draft, arguments: launch.arguments }, draft).arguments, guessed: {} }
        : kernel
          ? guessOf(kernel, specialization)
          : { arguments: [], guessed: {} };
      choose({
        ...chosen,
        mode: "form",
        guessed: begin.guessed,
        arguments: begin.arguments.map(unfolded),
        options: effectiveOptions(draft, specialization),
      });
    } else if (value === "signature") {
      choose({
        ...chosen,
        mode: "signature",
        signature: draft.signature || (specialization?.signature ?? ""),
        options: effectiveOptions(draft, specialization),
      });
    } else choose({ ...chosen, mode: "launch", launch: value === "" ? null : Number(value) });
  }
}

/** The changes that reset the choices for a kernel or a launch. @type {Partial<Draft>} */
const NO_CHOICES = { launch: null, config: null, options: {}, constants: {}, typed: {} };

/** Whether the draft sets an option that only `more_options.js` shows. */
function setsMoreOptions() {
  const { options } = store.state.draft;
  return "enable_fp_fusion" in options || "ptx_options" in options;
}

/** The specialization of the result, if that is of this kernel of the source. @param {Kernel | null} kernel */
function specializationOf(kernel) {
  const { draft, result } = store.state;
  const document = result?.document;
  if (!kernel || document?.kernel !== kernel.name || !sameSources(document.request, draft)) return null;
  return document.specialization;
}

/** @param {Draft} draft @param {Kernel | null} kernel @param {Launch | null} launch @returns {number | null} */
function configOf(draft, kernel, launch) {
  if (draft.config !== null || draft.mode !== "launch") return draft.config;
  return launch?.config ?? specializationOf(kernel)?.config ?? null;
}

/** Compile all autotune configurations of the kernel. */
function compileConfigs() {
  const { draft, inspection } = store.state;
  const configs = configsOf(draft, kernelOf(draft, inspection));
  if (configs.length === 0) return toast("This kernel has no autotune configurations.");
  const variants = configs.map((config) => variantOf(draftWithConfig(draft, config)));
  return void compileVariants("configs", variants);
}

/** Whether the kernels of the source are still to be found. */
function isInspecting() {
  const { inspection, inspectionProblem, draft } = store.state;
  return !inspection && !inspectionProblem && draft.source.trim() !== "";
}

/** Why no kernel can be chosen. */
function noKernelWords() {
  if (isInspecting()) return "inspecting …";
  const code = store.state.inspection?.output_code;
  return code ? `${foundWords(code.kernels.length)} in the output code` : "no kernel found";
}

/** @param {string} value @param {string} text @param {boolean} isChosen */
function option(value, text, isChosen) {
  return html`<option value=${value} .selected=${live(isChosen)}>${text}</option>`;
}

/**
 * An argument that was folded because it was 1 is edited as an integer.
 * @param {Argument} argument
 * @returns {Argument}
 */
function unfolded(argument) {
  return argument.specialization === "equal to 1" ? { ...argument, type: "i32" } : argument;
}

customElements.define("launch-panel", LaunchPanel);
