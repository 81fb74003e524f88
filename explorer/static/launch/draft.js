/**
 * Convert drafts to requests and back, and store drafts in this browser.
 *
 * @import { CompilationDocument, CompilationRequest, Draft, InspectionDocument, Kernel, Launch, Scalar, Specialized }
 *   from "../core/types.js"
 */
import { freshDraft } from "../core/fresh_draft.js";
import { hasGuesses } from "../core/result.js";
import { keep, kept } from "../core/storage.js";

/** The modules that read arguments. */
const READS_ARGUMENTS = /\b(?:argparse|argv|getopt|optparse|click|fire|typer|tyro|absl)\b/;
const STORAGE_KEY = "draft";
/** The storage key of the draft that this tab edits after it has opened a result. */
const UNSENT_KEY = "unsent";

/** @param {Draft} draft @returns {CompilationRequest} with nothing in it that was left open */
export function requestOf(draft) {
  /** @type {CompilationRequest} */
  const request = { source: draft.source, target: draft.target, ...filesOf(draft) };
  if (draft.triton) request.triton = draft.triton;
  if (draft.kernel) request.kernel = draft.kernel;
  if (draft.mode === "launch" && draft.launch !== null) request.launch = draft.launch;
  if (draft.mode === "form" && draft.arguments.length) request.arguments = draft.arguments;
  if (draft.mode === "signature" && draft.signature.trim()) request.arguments = draft.signature.trim();
  if (Object.keys(draft.options).length) request.options = draft.options;
  // Arguments have the values of all constants.
  if (Object.keys(draft.constants).length && !request.arguments) request.constants = draft.constants;
  if (draft.config !== null) request.config = draft.config;
  if (Object.keys(draft.assumed).length) request.assumed = draft.assumed;
  if (draft.scriptArguments) request.script_arguments = draft.scriptArguments;
  if (draft.edits) request.edits = draft.edits;
  if (draft.private) request.private = draft.private;
  return request;
}

/**
 * Return the edits that also apply to a different source: the edits of passes.
 * @param {Draft["edits"]} edits @returns {Draft["edits"]}
 */
export function editsOfPasses(edits) {
  const hasPasses = edits && (edits.without_passes.length || Object.keys(edits.pass_options).length);
  return edits && hasPasses ? { ...edits, stage: "", text: "" } : null;
}

/** Return the part of a request with the files beside a script; empty without such files. @param {Draft} draft */
export function filesOf({ path, files }) {
  return Object.keys(files).length ? { path, files } : {};
}

/** The draft that a stored result was made from. @param {CompilationDocument} document @returns {Draft} */
export function draftOf(document) {
  const { request, target, triton } = document;
  const given = request.arguments ?? null;
  return {
    source: request.source,
    path: request.path ?? "",
    files: request.files ?? {},
    kernel: request.kernel ?? null,
    mode: typeof given === "string" ? "signature" : given ? "form" : "launch",
    launch: request.launch ?? null,
    arguments: Array.isArray(given) ? given : [],
    guessed: {},
    signature: typeof given === "string" ? given : "",
    typed: {},
    options: request.options ?? {},
    constants: request.constants ?? {},
    config: request.config ?? null,
    target: target.name,
    triton,
    assumed: request.assumed ?? {},
    scriptArguments: request.script_arguments ?? "",
    edits: request.edits ?? null,
    private: request.private ?? "",
  };
}

/**
 * What other values of compiler options and constexpr arguments make of a draft.
 * @param {Draft} draft @param {{options: Record<string, Scalar>, constants: Record<string, Scalar>}} settings
 */
export function withSettings(draft, { options, constants }) {
  return {
    options: { ...draft.options, ...options },
    constants: { ...draft.constants, ...constants },
    arguments: draft.arguments.map((each) =>
      each.name in constants ? { ...each, value: constants[each.name] ?? null } : each,
    ),
  };
}

/** Whether a script may read arguments, or has some. @param {Draft} draft */
export function takesArguments({ source, scriptArguments }) {
  return scriptArguments !== "" || READS_ARGUMENTS.test(source);
}

/** Whether two drafts ask for the same. @param {Draft} one @param {Draft} other */
export function sameRequest(one, other) {
  return JSON.stringify(requestOf(one)) === JSON.stringify(requestOf(other));
}

/**
 * The kernel that a draft means, among those found: the one named, else that of its launch, else the first.
 * @param {Draft} draft @param {InspectionDocument | null} inspection @returns {Kernel | null}
 */
export function kernelOf(draft, inspection) {
  if (!inspection) return null;
  const named = inspection.kernels.find(({ name }) => name === draft.kernel);
  if (named) return named;
  const launched = launchOf(draft, inspection)?.kernel;
  return inspection.kernels.find(({ name }) => name === launched) ?? inspection.kernels[0] ?? null;
}

/**
 * The launch that a draft means: the one chosen, else the first of its kernel.
 * @param {Draft} draft @param {InspectionDocument | null} inspection @returns {Launch | null}
 */
export function launchOf(draft, inspection) {
  if (!inspection || draft.mode !== "launch") return null;
  const launches = inspection.launches.filter(({ kernel }) => !draft.kernel || kernel === draft.kernel);
  return launches.find(({ index }) => index === draft.launch) ?? launches[0] ?? null;
}

/**
 * The guessed arguments of a kernel, and the reason for each: as they were compiled, else as inspected.
 * @param {Kernel} kernel @param {Specialized | null} specialization
 * @returns {Pick<Draft, "arguments" | "guessed">}
 */
export function guessOf({ parameters }, specialization) {
  if (specialization && hasGuesses(specialization))
    return { arguments: specialization.arguments, guessed: specialization.guesses };
  return {
    arguments: parameters.map(({ guess }) => guess),
    guessed: Object.fromEntries(parameters.map(({ name, reason }) => [name, reason])),
  };
}

/** @param {Draft} draft @param {string} behind the result that the address names; "": none */
export function keepDraft(draft, behind) {
  keep(STORAGE_KEY, JSON.stringify(draft));
  keep(UNSENT_KEY, JSON.stringify({ behind, draft }), "sessionStorage");
}

/**
 * The draft that was last edited in this browser.
 * @param {string} target where it names none
 * @returns {Draft | null}
 */
export function keptDraft(target) {
  return readDraft(kept(STORAGE_KEY), (value) => value, target);
}

/**
 * Return the draft of a tab that was reloaded before the draft was compiled.
 * @param {string} id of the result @param {string} target where it names none @returns {Draft | null}
 */
export function unsentDraft(id, target) {
  return readDraft(
    kept(UNSENT_KEY, "sessionStorage"),
    (value) => (value?.behind === id ? value.draft : null),
    target,
  );
}

/**
 * @param {string | null} text
 * @param {(value: any) => any} pick
 * @param {string} target
 * @returns {Draft | null}
 */
function readDraft(text, pick, target) {
  try {
    const draft = pick(JSON.parse(text ?? "null"));
    return typeof draft?.source === "string" && draft.source.trim()
      ? freshDraft(draft.source, target, { ...draft, target: draft.target || target })
      : null;
  } catch {
    return null;
  }
}

/** Remove the stored drafts, so that the next visit starts without a draft. */
export function forgetDraft() {
  keep(STORAGE_KEY, null);
  forgetUnsent();
}

/** Remove the draft of this tab. */
export function forgetUnsent() {
  keep(UNSENT_KEY, null, "sessionStorage");
}
