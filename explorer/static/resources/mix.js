/**
 * What the instructions are for, in all and in the innermost loop.
 *
 * @import { OccupancyDocument } from "../types.js"
 */
import { make } from "../dom.js";
import { plural } from "../format.js";

/** @param {OccupancyDocument} document */
export function mixTable({ mix }) {
  if (!mix) return make("section", {}, make("h3", {}, "Instruction mix"), make("p", { class: "hint" }, "There is no machine code to count."));
  const { rows, total, loop } = mix;
  const kinds = [...new Set(rows.map(({ kind }) => kind))];
  const lines = kinds.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    const sum = { total: own.reduce((all, row) => all + row.total, 0), innermost: own.reduce((all, row) => all + row.innermost, 0) };
    const parts = own.filter(({ space }) => space).map((row) => line(`${row.direction} ${row.space}${row.bits ? `, ${row.bits} bits` : ""}`, row, true));
    return [line(kind, sum, false), ...parts];
  });
  /** @param {string} title @param {{total: number, innermost: number}} counts @param {boolean} isPart */
  function line(title, counts, isPart) {
    const bar = make("span", {});
    bar.style.setProperty("--share", `${(100 * counts.total) / total}%`);
    return make(
      "tr",
      { class: isPart ? "is-part" : null },
      make("th", { scope: "row" }, title),
      make("td", { "aria-hidden": "true" }, isPart ? null : make("span", { class: "share" }, bar)),
      make("td", {}, counts.total.toLocaleString("en")),
      loop && make("td", {}, counts.innermost ? counts.innermost.toLocaleString("en") : "–"),
      loop && make("td", {}, counts.total - counts.innermost ? (counts.total - counts.innermost).toLocaleString("en") : "–"),
    );
  }
  const where = loop ? `The innermost loop is lines ${loop.first_line} to ${loop.last_line}, ${plural(loop.instructions, "instruction")}.` : "The program has no loop.";
  return make(
    "section",
    { class: "mix" },
    make("h3", {}, `Instruction mix: ${plural(total, "instruction")}`),
    make(
      "table",
      { class: "mix" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "kind"), make("td", { "aria-hidden": "true" }), make("th", { scope: "col" }, "in all"), loop && make("th", { scope: "col" }, "in loop"), loop && make("th", { scope: "col" }, "outside"))),
      make("tbody", {}, ...lines),
    ),
    make("p", { class: "source" }, `Counted in the machine code, as it stands there, not as often as it runs. ${where}`),
  );
}
