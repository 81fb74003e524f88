/**
 * `<comparison-head>`: the two results, and how their requests differ.
 *
 * @import { ComparedSide, ComparisonDocument, Scalar } from "../core/types.js"
 */
import { ApiError, api } from "../core/api.js";
import { toast } from "../core/dom.js";
import { duration, literal, plural, targetTitle } from "../core/format.js";
import { foundWords, isOver } from "../core/status.js";
import { html, nothing } from "../core/template.js";
import { expectOwn } from "../menus/expected_results.js";
import { go } from "./address.js";
import { knownDifferences } from "./deltas.js";
import { ComparisonPart } from "./part.js";

const WORDS = {
  queued: () => "waiting in the queue",
  running: () => "compiling",
  complete: () => "complete in",
  failed: () => "failed after",
  kernels_found: (/** @type {number} */ count) => `${foundWords(count)} in`,
};

class ComparisonHead extends ComparisonPart {
  /** @override */
  render() {
    const { comparison } = this;
    if (!comparison) return nothing;
    return html`<div class="sides">${side("Before", comparison.before)}${side("After", comparison.after)}</div>
      <div class="asked" aria-label="Different requests" role="group">${differences(comparison)}</div>`;
  }
}

/** @param {string} label @param {ComparedSide} side */
function side(label, { id, status, milliseconds, url, kernel, target, triton, error, kernels_found: count }) {
  const isProgram = status === "kernels_found";
  const state = isOver({ status }) ? status : "busy";
  return html`<section class="side" aria-label=${label}>
    <small class="side-label">${label}</small>
    <a class="side-kernel" href=${url} title="Open this result">${kernel ?? (isProgram ? "torch.compile" : "kernel")}</a>
    <span class="side-facts">${targetTitle(target)} · Triton ${triton}</span>
    <span class="state is-${state}" role="status">${WORDS[status](count)} ${duration(milliseconds)}</span>
    ${status === "failed" ? html`<p class="side-error">${error ?? "See the log of this result."}</p>` : nothing}
    ${
      isProgram
        ? html`<p class="side-program"><span>A compiler writes the kernels of this program.</span>
            <button type="button" class="button small" title="Compile the script with the kernels"
              @click=${() => void openKernels(id)}>Open the kernels</button></p>`
        : nothing
    }
  </section>`;
}

/** Compile the kernels that `torch.compile` generates for a program, and show the result. @param {string} id */
async function openKernels(id) {
  try {
    const { request, output_code: code } = await api.compilation(id);
    if (!code) return;
    const { target, triton } = request;
    const { source, path, files } = code;
    const compiled = await api.compile({ source, path, files, target, triton });
    expectOwn(compiled.id);
    location.assign(`/k/${compiled.id}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`${error.problem.title}. ${error.problem.detail}`);
  }
}

/** @param {ComparisonDocument} comparison */
function differences({ differences: all, source, before, after }) {
  const differences = knownDifferences(all, before, after);
  const isOtherSource = source.lines_added > 0 || source.lines_removed > 0;
  if (!isOtherSource && differences.length === 0)
    return html`<span class="asked-title">${all.length ? "Reading the requests …" : "Both requests are equal."}</span>`;
  return html`<span class="asked-title">Different requests</span>
    ${
      isOtherSource
        ? html`<button type="button" class="asked-chip" @click=${() => go({ show: "source" })}
            ><span class="asked-name">source</span>
            ${plural(source.lines_added, "line")} added, ${source.lines_removed} removed</button>`
        : nothing
    }
    ${differences.map(
      ({ name, before, after }) => html`<span class="asked-chip"
        ><span class="asked-name">${name}</span> <b>${shown(before)}</b> → <b>${shown(after)}</b></span>`,
    )}`;
}

/** @param {Scalar} value */
function shown(value) {
  return value === null ? "–" : literal(value);
}

/** In one line, for titles. @param {ComparisonDocument} comparison */
export function inShort({ differences, source, before, after }) {
  if (before.id === after.id) return "the same result twice";
  const words = knownDifferences(differences, before, after)
    .filter(({ name }) => name !== "kernel")
    .slice(0, 3)
    .map((each) => `${each.name} ${shown(each.before)} → ${shown(each.after)}`);
  if (source.lines_added || source.lines_removed) words.push("another source");
  return words.join(", ") || "equal requests";
}

customElements.define("comparison-head", ComparisonHead);
