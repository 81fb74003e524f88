/**
 * Cards for everything that moves data: conversions, accesses to memory, products of matrices.
 *
 * @import { Emitted, LayoutRow, LayoutsDocument, MatrixProduct } from "../../core/types.js"
 */
import { plural, size } from "../../core/format.js";
import { html, nothing, styles } from "../../core/template.js";
import { marked } from "../../glossary/marks.js";
import { sharedWords } from "./shared_words.js";
import { bankMotion, sectorMotion } from "./motion.js";
import { shapeText } from "./document.js";

/**
 * @typedef {object} Links the functions that open a card's links
 * @property {(index: number) => void} layout
 * @property {(line: number) => void} line
 * @property {(index: number) => void} access the picture of a shared access
 * @property {(line: number) => unknown} why draws why an operation is there
 */

const MOVEMENTS = {
  nothing: "is-good",
  registers: "is-good",
  shuffles: "is-fair",
  "shared memory": "is-costly",
  cluster: "is-costly",
};

/** @typedef {[name: string, value: string | number | null, source: string]} Fact */

/** @param {LayoutsDocument} document @param {Links} links */
export function conversionCards({ conversions, layouts }, links) {
  if (!conversions.length) return none("This text has no layout conversions.");
  return conversions.map((each) => {
    const { movement, cost, scratch_bytes: scratch, scratch_offset: offset } = each;
    const kind = MOVEMENTS[/** @type {keyof typeof MOVEMENTS} */ (movement)] ?? "";
    const way = html`${layoutButton(layouts[each.origin], links)}<span aria-label="to">→</span>
      ${layoutButton(layouts[each.result], links)}
      ${badge(movement === "nothing" ? "nothing moves" : movement, kind, each.movement_source)}`;
    const place = scratch === null ? null : `${size(scratch)} at ${offset?.toLocaleString("en")}`;
    const renamed = movement === "registers" ? (cost?.moved_registers ?? null) : null;
    return card(each, links, way, html`<p>${marked(each.words)}</p>${links.why(each.line)}`, [
      ["bytes", size(each.bytes), "compiler"],
      ["scratch", place, "compiler's allocation"],
      ["shuffles a thread", cost?.shuffles || null, "modelled"],
      ["registers renamed", renamed, "modelled"],
      ["wavefronts, at least", cost?.wavefronts || null, "modelled"],
    ]);
  });
}

/** @param {LayoutsDocument} document @param {Links} links */
export function accessCards({ accesses, layouts, lanes }, links) {
  if (!accesses.length) return none("This text does not access global memory.");
  return accesses.map((each) => {
    const {
      layout,
      lane_bytes: bytes,
      sector_share: share,
      sectors,
      sectors_are_most: most,
      pointer,
      mask,
    } = each;
    const kind = bytes === null || bytes < 8 ? "is-costly" : bytes >= 16 ? "is-good" : "is-fair";
    const way =
      layout === null
        ? nothing
        : html`${layoutButton(layouts[layout], links)}
            ${bytes === null ? nothing : badge(`${bytes} B a lane`, kind, each.width_source)}`;
    const used =
      share === null
        ? nothing
        : shareBar(
            share,
            `${most ? "at least " : ""}${Math.round(100 * share)} % of ${plural(sectors ?? 0, "sector")} used by ${lanes} lanes`,
          );
    const motion =
      bytes === null
        ? null
        : sectorMotion(each.lane_offsets, each.lane_ranges, bytes, each.launch_values !== null);
    return card(each, links, way, html`<p>${marked(each.words)}</p>${used}${inMotion(motion)}`, [
      ["pointer", pointer ? axis(pointer) : null, "compiler's axis analysis"],
      ["mask", mask ? `constant over ${mask.constancy.join(" × ")}` : null, "compiler's axis analysis"],
      emittedFact(each),
    ]);
  });
}

/** @param {LayoutsDocument} document @param {Links} links */
export function sharedCards({ shared_accesses: accesses, layouts }, links) {
  if (!accesses.length)
    return none("No thread reads or writes shared memory here. Copy engines and matrix units may.");
  return accesses.map((each, index) => {
    const { conflicts, source, wavefronts, least_wavefronts: least } = each;
    const conflictBadge =
      conflicts === null
        ? nothing
        : badge(
            conflicts === 0 ? "no conflicts" : plural(conflicts, "bank conflict"),
            conflicts === 0 ? "is-good" : "is-costly",
            source,
          );
    const way = html`${layoutButton(layouts[each.registers], links)}<span>↔</span>
      ${layoutButton(layouts[each.shared], links)} ${conflictBadge}`;
    const button = () =>
      html`<p><button type="button" class="button small" @click=${() => links.access(index)}>Show the
        banks</button></p>`;
    const words = html`<p>${marked(each.reason || sharedWords(each))}</p>
      ${each.offsets_bytes.length ? button() : nothing} ${inMotion(bankMotion(each))}`;
    return card(each, links, way, words, [
      ["bytes of a lane", each.vector_bytes, "modelled"],
      ["wavefronts", wavefronts === null ? null : `${wavefronts} of at least ${least}`, "modelled"],
      ["banks", each.banks, "the target"],
      emittedFact(each),
    ]);
  });
}

/** @param {LayoutsDocument} document @param {Links} links */
export function productCards({ matrix_products: products, layouts }, links) {
  if (!products.length) return none("This text has no matrix products.");
  const roles = ["a", "b", "accumulator"];
  return products.map((each) => {
    const operands = each.operands.map((index, position) => {
      const row = index === null ? undefined : layouts[index];
      return row ? html`<span class="hint">${roles[position]}</span>${layoutButton(row, links)}` : nothing;
    });
    const way = html`${operands} ${each.tile ? badge(each.tile, "is-good", each.tile_source) : nothing}`;
    return card(each, links, way, html`<p>${marked(tileWords(each, layouts))}</p>`, [emittedFact(each)]);
  });
}

/** @param {MatrixProduct} product @param {LayoutRow[]} layouts */
function tileWords({ tile, tile_source: source, operands }, layouts) {
  const [a, b] = operands.map((index) => (index === null ? undefined : layouts[index]?.shape.slice(-2)));
  const whole = a && b ? `${a[0]} × ${b[1]} × ${a[1]}` : "the tile";
  return tile
    ? `One instruction multiplies ${tile}, as ${source === "encoding" ? "the encoding" : source} says; together they make ${whole}.`
    : `${whole} (rows, columns, depth); the tile of one instruction is not said by its name.`;
}

/** The lanes of one instruction, one after the other. @param {import("./motion.js").Motion | null} motion */
function inMotion(motion) {
  if (!motion || motion.steps.length === 0) return nothing;
  const cells = motion.unit === "sector" ? "sectors" : "banks";
  return html`<details class="access-motion"><summary>Lanes and ${cells}, step by step <small>(modelled)</small></summary>
    <access-motion .motion=${motion}></access-motion></details>`;
}

/**
 * @param {{line: number, operation: string, name: string}} place
 * @param {Links} links
 * @param {unknown} way the layouts that take part
 * @param {unknown} words
 * @param {Fact[]} facts
 */
function card({ line, operation, name }, links, way, words, facts) {
  const told = facts.filter(([, value]) => value !== null && value !== "");
  return html`<article class="layout-card">
    <header>
      <b>${operation}</b><code>${name}</code><button type="button" class="link" title="Show this line"
        @click=${() => links.line(line)}>TTGIR ${line}</button>
    </header>
    ${way === nothing ? nothing : html`<div class="layout-way">${way}</div>`} ${words}
    ${
      told.length
        ? html`<dl class="layout-facts">${told.map(
            ([fact, value, source]) =>
              html`<div><dt>${marked(fact)}</dt><dd>${value}<small>${source}</small></dd></div>`,
          )}</dl>`
        : nothing
    }
  </article>`;
}

/** @param {LayoutRow | undefined} row @param {Links} links */
function layoutButton(row, links) {
  if (!row) return nothing;
  return html`<button type="button" class="layout-name" title=${row.encoding}
    @click=${() => links.layout(row.index)}><code>${row.label}</code> ${shapeText(row)}</button>`;
}

/** @param {string} text @param {string} kind @param {string} source */
function badge(text, kind, source) {
  const shown = source.startsWith("modelled") ? "modelled" : source;
  return html`<span class=${`layout-badge ${kind}`} title=${source ? `Source: ${source}` : nothing}>${text}${
    source ? html`<small>${shown}</small>` : nothing
  }</span>`;
}

/** @param {number} share @param {string} words */
function shareBar(share, words) {
  const width = `${Math.max(2, Math.round(100 * share))}%`;
  return html`<div class="layout-share">
    <span class="track" role="img" aria-label=${words}><span class="bar" ${styles({ "--share": width })}></span></span>
    <small>${words} (modelled)</small>
  </div>`;
}

/**
 * @param {{emitted: Emitted[], emitted_source: string, emitted_sharing: number}} access
 * @returns {Fact}
 */
function emittedFact({ emitted: instructions, emitted_source: source, emitted_sharing: sharing }) {
  const words = emitted(instructions);
  return words && sharing > 1
    ? ["emitted", `${words}, by ${sharing} operations together`, `${source}, at this place in the source`]
    : ["emitted", words, `${source}, of this operation`];
}

/** @param {import("../../core/types.js").Axis} information */
function axis({ contiguity, divisibility, constancy }) {
  const constant = constancy.some((each) => each > 1) ? `, constant over ${constancy.join(" × ")}` : "";
  return `${contiguity.join(" × ")} consecutive, divisible by ${divisibility.join(" × ")}${constant}`;
}

/** @param {Emitted[]} instructions */
function emitted(instructions) {
  return instructions
    .map(
      ({ name, count, lane_bytes: bytes }) =>
        `${count} × ${name}${bytes === null ? "" : ` (${bytes} B a lane)`}`,
    )
    .join(", ");
}

/** @param {string} words */
function none(words) {
  return html`<p class="hint layout-nothing">${words}</p>`;
}
