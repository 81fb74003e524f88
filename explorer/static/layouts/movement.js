/**
 * Where data moves, in words and numbers: conversions, accesses to memory, products of matrices.
 *
 * @import { Emitted, LayoutRow, LayoutsDocument, MatrixProduct } from "./document.js"
 * @import { SharedAccess } from "./banks.js"
 */
import { make } from "../dom.js";
import { plural, size } from "../format.js";
import { shapeText } from "./document.js";

/**
 * @typedef {object} Links what a card can open
 * @property {(index: number) => void} layout
 * @property {(line: number) => void} line
 * @property {(index: number) => void} access the picture of a shared access
 */

const MOVEMENTS = { nothing: "is-good", registers: "is-good", shuffles: "is-fair", "shared memory": "is-costly", cluster: "is-costly" };

/** @param {LayoutsDocument} document @param {Links} links */
export function conversionCards({ conversions, layouts }, links) {
  if (!conversions.length) return [nothing("No layout is converted into another one here.")];
  return conversions.map((each) =>
    card(
      each.line, each.operation, each.name, links,
      make("div", { class: "layout-way" }, layoutButton(layouts[each.origin], links), make("span", { "aria-label": "to" }, "→"), layoutButton(layouts[each.result], links), badge(each.movement === "nothing" ? "nothing moves" : each.movement, MOVEMENTS[/** @type {keyof typeof MOVEMENTS} */ (each.movement)] ?? "", each.movement_source)),
      make("p", {}, each.words),
      facts(
        ["bytes", size(each.bytes), "compiler"],
        ["scratch", each.scratch_bytes === null ? null : `${size(each.scratch_bytes)} at ${each.scratch_offset?.toLocaleString("en")}`, "compiler's allocation"],
        ["shuffles a thread", each.cost?.shuffles || null, "modelled"],
        ["registers renamed", each.movement === "registers" ? (each.cost?.moved_registers ?? null) : null, "modelled"],
        ["wavefronts, at least", each.cost?.wavefronts || null, "modelled"],
      ),
    ),
  );
}

/** @param {LayoutsDocument} document @param {Links} links */
export function accessCards({ accesses, layouts, lanes }, links) {
  if (!accesses.length) return [nothing("Global memory is neither read nor written here.")];
  return accesses.map((each) =>
    card(
      each.line, each.operation, each.name, links,
      each.layout === null ? null : make("div", { class: "layout-way" }, layoutButton(layouts[each.layout], links), each.lane_bytes !== null && badge(`${each.lane_bytes} B a lane`, each.lane_bytes >= 16 ? "is-good" : each.lane_bytes >= 8 ? "is-fair" : "is-costly", each.width_source)),
      make("p", {}, each.words),
      each.sector_share === null ? null : shareBar(each.sector_share, `${Math.round(100 * each.sector_share)} % of ${plural(each.sectors ?? 0, "sector")} used by ${lanes} lanes`),
      facts(
        ["pointer", each.pointer ? axis(each.pointer) : null, "compiler's axis analysis"],
        ["mask", each.mask ? `constant over ${each.mask.constancy.join(" × ")}` : null, "compiler's axis analysis"],
        ["emitted", emitted(each.emitted), `${each.emitted_source}, all that this line of the source became`],
      ),
    ),
  );
}

/** @param {LayoutsDocument} document @param {Links} links */
export function sharedCards({ shared_accesses: accesses, layouts }, links) {
  if (!accesses.length) return [nothing("No thread reads or writes shared memory by itself here. Copy engines and matrix units may.")];
  return accesses.map((each, index) =>
    card(
      each.line, each.operation, each.name, links,
      make("div", { class: "layout-way" }, layoutButton(layouts[each.registers], links), make("span", {}, "↔"), layoutButton(layouts[each.shared], links), conflictBadge(each)),
      make("p", {}, each.reason || sharedWords(each)),
      each.offsets_bytes.length ? make("p", {}, make("button", { type: "button", class: "button small", onclick: () => links.access(index) }, "Show the banks")) : null,
      facts(
        ["bytes of a lane", each.vector_bytes, "modelled"],
        ["wavefronts", each.wavefronts === null ? null : `${each.wavefronts} of at least ${each.least_wavefronts}`, "modelled"],
        ["banks", each.banks, "the target"],
        ["emitted", emitted(each.emitted), `${each.emitted_source}, all that this line of the source became`],
      ),
    ),
  );
}

/** @param {LayoutsDocument} document @param {Links} links */
export function productCards({ matrix_products: products, layouts }, links) {
  if (!products.length) return [nothing("No matrices are multiplied here.")];
  const roles = ["a", "b", "accumulator"];
  return products.map((each) =>
    card(
      each.line, each.operation, each.name, links,
      make("div", { class: "layout-way" }, ...each.operands.flatMap((index, position) => {
        const row = index === null ? undefined : layouts[index];
        return row ? [make("span", { class: "hint" }, roles[position] ?? ""), layoutButton(row, links)] : [];
      }), each.tile && badge(each.tile, "is-good", each.tile_source)),
      make("p", {}, tileWords(each, layouts)),
      facts(["emitted", emitted(each.emitted), `${each.emitted_source}, all that this line of the source became`]),
    ),
  );
}

/** @param {MatrixProduct} product @param {LayoutRow[]} layouts */
function tileWords({ tile, tile_source: source, operands }, layouts) {
  const [a, b] = operands.map((index) => (index === null ? undefined : layouts[index]?.shape.slice(-2)));
  const whole = a && b ? `${a[0]} × ${b[1]} × ${a[1]}` : "the tile";
  return tile ? `One instruction multiplies ${tile}, as ${source === "encoding" ? "the encoding" : source} says; together they make ${whole}.` : `${whole} (rows, columns, depth); the tile of one instruction is not said by its name.`;
}

/** @param {SharedAccess} access */
export function sharedWords({ conflicts, source, vector_bytes: bytes, operation, emitted: made }) {
  const verb = operation === "ttg.local_load" ? "reads" : "writes";
  const each = `Each lane ${verb} ${bytes ?? "?"} bytes at once`;
  if (conflicts === null) return `${each}.`;
  const matrix = made.find(({ name }) => /matrix|_tr_/.test(name))?.name.split(".")[0];
  const instead = matrix ? ` That is for plain accesses; this one uses ${matrix}, which fetches rows of 16 bytes for the whole warp.` : "";
  return conflicts === 0
    ? `${each}; no two lanes of a wavefront want different words of one bank.${instead}`
    : `${each}; words of one bank are wanted together: every wavefront takes ${conflicts + 1} times as long (${source === "compiler" ? "the compiler counts it" : "modelled"}).${instead}`;
}

/** @param {SharedAccess} access */
function conflictBadge({ conflicts, source }) {
  if (conflicts === null) return null;
  return badge(conflicts === 0 ? "no conflicts" : `${plural(conflicts, "bank conflict")}`, conflicts === 0 ? "is-good" : "is-costly", source);
}

/** @param {number} line @param {string} operation @param {string} name @param {Links} links @param {...(Node | null | false)} children */
function card(line, operation, name, links, ...children) {
  return make(
    "article",
    { class: "layout-card" },
    make("header", {}, make("b", {}, operation), make("code", {}, name), make("button", { type: "button", class: "link", title: "Show this line", onclick: () => links.line(line) }, `line ${line}`)),
    ...children,
  );
}

/** @param {LayoutRow | undefined} row @param {Links} links */
function layoutButton(row, links) {
  return row ? make("button", { type: "button", class: "layout-name", title: row.encoding, onclick: () => links.layout(row.index) }, make("code", {}, row.label), ` ${shapeText(row)}`) : null;
}

/** @param {string} text @param {string} kind @param {string} source */
function badge(text, kind, source) {
  return make("span", { class: `layout-badge ${kind}`, title: source ? `Source: ${source}` : null }, text, source && make("small", {}, source.startsWith("modelled") ? "modelled" : source));
}

/** @param {...[string, string | number | null, string]} rows */
function facts(...rows) {
  const told = rows.filter(([, value]) => value !== null && value !== "");
  return told.length ? make("dl", { class: "layout-facts" }, ...told.map(([name, value, source]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value), make("small", {}, source))))) : null;
}

/** @param {number} share @param {string} words */
function shareBar(share, words) {
  const bar = make("span", { class: "bar" });
  bar.style.setProperty("--share", `${Math.max(2, Math.round(100 * share))}%`);
  return make("div", { class: "layout-share" }, make("span", { class: "track", role: "img", "aria-label": words }, bar), make("small", {}, words, " (modelled)"));
}

/** @param {import("./document.js").Axis} information */
function axis({ contiguity, divisibility, constancy }) {
  const constant = constancy.some((each) => each > 1) ? `, constant over ${constancy.join(" × ")}` : "";
  return `${contiguity.join(" × ")} consecutive, divisible by ${divisibility.join(" × ")}${constant}`;
}

/** @param {Emitted[]} instructions */
function emitted(instructions) {
  return instructions.map(({ name, count, lane_bytes: bytes }) => `${count} × ${name}${bytes === null ? "" : ` (${bytes} B a lane)`}`).join(", ");
}

/** @param {string} words */
function nothing(words) {
  return make("p", { class: "hint layout-nothing" }, words);
}
