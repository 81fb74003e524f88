/**
 * One run on screen: what it is, what was said, and a section for each of its measurements as it comes.
 *
 * @import { Diagnostic } from "../types.js"
 * @import { Measurements, ProfileFiles, RunDocument } from "./documents.js"
 * @import { RunResult } from "./run_result.js"
 */
import { ApiError, api } from "../api.js";
import { make } from "../dom.js";
import { duration, size } from "../format.js";
import { pin } from "../selection.js";
import { store } from "../store.js";
import { checkSection } from "./check.js";
import { compileAlike } from "./compile_alike.js";
import { countsSection } from "./counts.js";
import { countersSection, environmentSection, launchSection, roofsSection } from "./facts.js";
import { INTERPRETED, differenceWords, runFacts, runMoment, runTitle } from "./words.js";
import { timingsSection } from "./timings.js";

/** In the order in which they stand. @type {(keyof Measurements)[]} */
const SECTIONS = ["check", "timings", "sweep", "autotuning", "counts", "counters", "roofs", "launch", "environment", "files"];

const MOST_COMMAND = 48;

export class RunResultView {
  /** @param {string} origin the pane, as the source of what it pins @param {() => string} source the code that was run */
  constructor(origin, source) {
    this.origin = origin;
    this.source = source;
    this.head = make("header", { class: "run-head" });
    this.said = make("div", { class: "run-said" });
    this.sections = make("div", { class: "run-sections" });
    this.log = make("div");
    this.element = make("article", { class: "run-result", "aria-label": "Result of the run" }, this.head, this.said, this.sections, this.log);
    /** @type {RunResult | null} */
    this.result = null;
    /** @type {Map<string, HTMLElement>} places of the sections that were asked for */
    this.places = new Map();
    this.key = "";
  }

  /** @param {RunResult | null} result */
  show(result) {
    if (result !== this.result) {
      this.result = result;
      this.key = "";
      this.places.clear();
      this.sections.replaceChildren();
      this.log.replaceChildren();
    }
    this.element.hidden = !result;
    if (!result) return;
    const { document } = result;
    const key = JSON.stringify([document.status, document.diagnostics.length, document.log.length, document.measurements.length, document.milliseconds]);
    if (key === this.key) return;
    this.key = key;
    this.head.replaceChildren(...headOf(result));
    this.said.replaceChildren(...document.diagnostics.map((each) => diagnosticOf(each, this.origin)));
    if (result.finished && document.status === "failed" && !document.diagnostics.some(({ severity }) => severity === "error")) {
      this.said.append(make("p", { class: "warning" }, "The run ended before its time without saying why: it was cancelled, or stopped from outside. Run it again."));
    }
    for (const name of SECTIONS) if (result.has(name)) void this.fill(result, name);
    this.drawLog(document);
  }

  /** Fetch a measurement and put it where it belongs, once. @param {RunResult} result @param {keyof Measurements} name */
  async fill(result, name) {
    if (this.places.has(name)) return;
    const box = make("div", { class: "run-section", "data-measurement": name });
    this.places.set(name, box);
    const behind = SECTIONS.slice(SECTIONS.indexOf(name) + 1).map((each) => this.places.get(each)).find(Boolean);
    this.sections.insertBefore(box, behind ?? null);
    try {
      const section = await this.draw(result, name);
      if (this.result !== result) return;
      if (section) box.replaceChildren(section);
      box.classList.toggle("is-wide", section?.classList.contains("is-wide") ?? false);
      box.hidden = !section;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.result !== result) return;
      const again = make("button", { type: "button", class: "link", onclick: () => { box.remove(); this.places.delete(name); void this.fill(result, name); } }, "Try again");
      box.replaceChildren(make("p", { class: "warning" }, `${error.problem.title}. ${error.problem.detail} `, again));
    }
  }

  /** @param {RunResult} result @param {keyof Measurements} name @returns {Promise<HTMLElement | null>} */
  async draw(result, name) {
    const isInterpreted = result.document.run.device === "interpreter";
    /** @template {keyof Measurements} Name @param {Name} wanted @param {(document: Measurements[Name]) => HTMLElement | null | Promise<HTMLElement | null>} draw */
    const of = async (wanted, draw) => {
      const found = await result.measurement(wanted);
      return found ? draw(found) : null;
    };
    switch (name) {
      case "check": return of(name, (check) => checkSection(check, result.document.diagnostics.some(({ severity }) => severity === "error")));
      case "timings": return of(name, (timings) => timingsSection(timings, isInterpreted));
      // Plots come with a library that other runs do without.
      case "sweep": return of(name, async (sweep) => (await import("./sweep.js")).sweepSection(sweep, result.id));
      case "autotuning": return of(name, async (autotuning) => (await import("./autotuning.js")).autotuningSection(autotuning, result.id));
      case "counts": return of(name, (counts) => countsSection(counts, this.source(), this.origin));
      case "counters": return of(name, countersSection);
      case "roofs": return of(name, roofsSection);
      case "launch": return of(name, launchSection);
      case "environment": return of(name, environmentSection);
      case "files": return of(name, ({ files }) => filesSection(files, result.id));
      default: return null;
    }
  }

  /** @param {RunDocument} document */
  drawLog({ log }) {
    const entries = log.filter(({ text }) => text.trim());
    const open = this.log.querySelector("details")?.open ?? false;
    this.log.replaceChildren(...(entries.length ? [make("details", { class: "run-log", open }, make("summary", {}, "What was printed"),
      ...entries.map(({ source, text }) => make("div", {}, make("b", {}, source), make("pre", { tabindex: "0" }, text.trimEnd()))))] : []));
  }
}

/** What the run is, and what can be done with it. @param {RunResult} result */
function headOf(result) {
  const { document, id } = result;
  const { recorded, run } = document;
  const difference = differenceWords(document, store.state.result?.document.triton ?? "");
  // One that ran to its end may still have computed what is wrong.
  const isWrong = document.status === "complete" && (document.matches === false || document.diagnostics.some(({ severity }) => severity === "error"));
  const marks = { complete: isWrong ? "✗ ran, with errors" : "✓ ran", failed: "✗ failed", queued: "waiting", running: "running" };
  const label = recorded ? `Recorded on ${recorded.gpu}, driver ${recorded.driver}, Triton ${recorded.triton}, torch ${recorded.torch}, ${recorded.date.slice(0, 10)}, by ${shortened(recorded.command)}.`
    : run.device === "interpreter" ? INTERPRETED : "";
  const hasRoofline = ["timings", "counters", "counts", "roofs"].some((name) => document.measurements.some((row) => row.name === name)) && store.state.paneKinds.some(({ name }) => name === "roofline");
  const open = make("button", {
    type: "button", class: "button small",
    onclick: () => open.dispatchEvent(new CustomEvent("pane-beside", { bubbles: true, detail: `roofline:${id}` })),
  }, "Open in the Roofline pane");
  return [
    make("div", { class: "run-head-line" },
      make("h2", {}, recorded ? `${runTitle(document)}, recorded` : runTitle(document)),
      make("span", { class: `run-state is-${document.status}${isWrong ? " is-wrong" : ""}` }, marks[document.status]),
      make("span", { class: "hint" }, [runFacts(document), runMoment(document), !recorded && duration(document.milliseconds)].filter(Boolean).join(" · ")),
      hasRoofline && result.finished ? open : null),
    label && make("p", { class: "run-label-note", title: recorded?.command }, label),
    difference && make("p", { class: "warning" }, difference, " ", compileAlike(document) ?? ""),
  ].filter((each) => each instanceof Node);
}

/** @param {string} command as long as it may be */
function shortened(command) {
  return command.length > MOST_COMMAND ? `${command.slice(0, MOST_COMMAND).trimEnd()} …` : command;
}

/** @param {Diagnostic} diagnostic @param {string} origin */
function diagnosticOf({ severity, message, hint, line }, origin) {
  return make("article", { class: `diagnostic is-${severity}` },
    make("header", {}, make("b", {}, severity), line > 0 && make("button", { type: "button", class: "place", onclick: () => pin([line], origin) }, `line ${line}`)),
    make("pre", {}, message),
    hint && make("p", { class: "hint" }, hint));
}

/** @param {ProfileFiles["files"]} files @param {string} id */
function filesSection(files, id) {
  if (files.length === 0) return null;
  return make("section", {}, make("h3", {}, "Files"), make("p", { class: "run-files" }, ...files.map(({ name, bytes }) =>
    make("a", { class: "button small", href: api.runUrl(id, `files/${encodeURIComponent(name)}`), download: name }, name, make("span", { class: "hint" }, size(bytes))))));
}
