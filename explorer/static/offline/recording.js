/**
 * The saved answers of the server that this file contains.
 *
 * Each answer is base64 of gzip in a separate element, unpacked at the first request. `#embedded-data` has
 * the number of the answer by address, and the status of errors. An address of lines contains all lines; the page
 * requests ranges of them.
 */
import { answerBy } from "../core/api.js";
import { byId, make } from "../core/dom.js";
import { unpack } from "./embedded_data.js";

/** @type {[Record<string, number>, Record<string, number>]} */
const [numbers, problems] = JSON.parse(byId("embedded-data").textContent ?? "[{},{}]");
/** @type {Map<string, Promise<unknown>>} documents with lines, which are asked for piece by piece */
const documents = new Map();

answerBy(async (address, { method = "GET" } = {}) => {
  const { pathname, search, searchParams } = new URL(address, "http://file/");
  const key = searchParams.has("from") ? pathname : pathname + search;
  if (method !== "GET")
    return refusal(405, "There is no compiler in this file", "Open the result on its server to compile.");
  const text = key.replace(/\/lines$/, "");
  if (!(key in numbers) && text in numbers)
    return json(plainLines(await (await answerAt(text)).text(), searchParams));
  if (!(key in numbers))
    return refusal(404, "This is not in the file", "Open the result on its server to see it.");
  if (!searchParams.has("from")) return new Response(await answerAt(key), { status: problems[key] ?? 200 });
  if (!documents.has(key)) documents.set(key, new Response(await answerAt(key)).json());
  const whole = /** @type {{lines: unknown[]}} */ (await documents.get(key));
  const lines = whole.lines.slice(Number(searchParams.get("from")) - 1, Number(searchParams.get("to")));
  return json({ ...whole, lines });
});

/**
 * Return lines of a text that is saved without colors, as the many texts of passes are.
 * @param {string} text
 * @param {URLSearchParams} range
 */
function plainLines(text, range) {
  const all = text.replace(/\n$/, "").split("\n");
  const from = Number(range.get("from"));
  const lines = all
    .slice(from - 1, Number(range.get("to")))
    .map((line, index) => ({ n: from + index, tokens: [["", line]] }));
  return { from, to: from + lines.length - 1, total: all.length, lines };
}

/** @param {string} address */
function answerAt(address) {
  return unpack(`answer-${numbers[address]}`);
}

/** @param {number} status @param {string} error @param {string} detail */
function refusal(status, error, detail) {
  return json({ error, kind: "not_in_file", detail }, status);
}

/** @param {unknown} document @param {number} [status] */
function json(document, status = 200) {
  return new Response(JSON.stringify(document), { status });
}

// Links to answers are followed here as well.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const key = link?.getAttribute("href") ?? "";
  if (!link || !(key in numbers)) return;
  event.preventDefault();
  void answerAt(key).then((blob) => {
    const url = URL.createObjectURL(new Blob([blob], { type: "text/plain;charset=utf-8" }));
    make("a", { href: url, download: link.download || (key.split("/").at(-1) ?? "") }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  });
});
