import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { searchCommands } from "../../../explorer/static/menus/command_search.js";
import { FIELD_WORDS } from "../../../explorer/static/menus/field_words.js";

const ROOT = new URL("../../../", import.meta.url);
const PANES = [
  "Passes",
  "Schedule",
  "Layouts",
  "Memory",
  "Registers",
  "Graph",
  "Run",
  "Roofline",
  "Resources",
  "Log",
];
const COMMANDS = [
  { name: "compile", title: "Compile now", group: "Compile", run() {} },
  { name: "copy-all", title: "Copy all", group: "Stage", run() {} },
  { name: "stage:ptx", title: "Show PTX", group: "Go to", summary: "virtual ISA", run() {} },
  ...PANES.map((title) => ({
    name: `pane:${title.toLowerCase()}`,
    title: `Show ${title}`,
    group: "Panes",
    run() {},
  })),
];

/** @param {string} typed */
const first = (typed) => searchCommands(COMMANDS, typed, FIELD_WORDS)[0]?.command.title;

test("the field's words lead to the pane that answers them", () => {
  const expected = {
    occupancy: "Show Resources",
    "bank conflict": "Show Layouts",
    "bank conflicts": "Show Layouts",
    "shared memory": "Show Memory",
    spill: "Show Registers",
    roofline: "Show Roofline",
    coalescing: "Show Layouts",
    coalesc: "Show Layouts",
    "memory bound": "Show Roofline",
    "control flow": "Show Graph",
    autotun: "Show Run",
    pipelining: "Show Passes",
    warning: "Show Log",
    "why is occupancy low": "Show Resources",
  };
  for (const [typed, title] of Object.entries(expected)) assert.equal(first(typed), title, typed);
});

test("a title comes before a word, letters and a summary find commands as well", () => {
  assert.equal(first("compile now"), "Compile now");
  assert.equal(first("shptx"), "Show PTX");
  assert.equal(first("virtual"), "Show PTX");
  assert.equal(searchCommands(COMMANDS, "", FIELD_WORDS).length, COMMANDS.length);
  assert.deepEqual(searchCommands(COMMANDS, "zzzz", FIELD_WORDS), []);
});

test("a result says by which word it was found", () => {
  const [found] = searchCommands(COMMANDS, "occupancy", FIELD_WORDS);
  assert.equal(found?.phrase, "occupancy");
  assert.equal(searchCommands(COMMANDS, "copy", FIELD_WORDS)[0]?.phrase, "");
});

test("the table has the headings of every pane", () => {
  for (const pane of PANES.map((title) => title.toLowerCase())) {
    const words = (FIELD_WORDS[`pane:${pane}`] ?? []).map((each) => each.toLowerCase());
    for (const text of modulesOf(pane))
      for (const [, heading = ""] of text.matchAll(/<h3>([A-Z][^<$:;,(]+)/g))
        assert.ok(
          words.some((each) => each.startsWith(heading.trim().toLowerCase())),
          `${pane}: the heading "${heading.trim()}" is not in field_words.js`,
        );
  }
});

test("every entry is of a command of the page", () => {
  const known = new Set([
    ...PANES.map((title) => `pane:${title.toLowerCase()}`),
    ...readdirSync(new URL("explorer/pipeline/stages/", ROOT)).map(
      (file) => `stage:${file.replace(".py", "")}`,
    ),
    ...["page_commands", "menus", "actions"].flatMap((file) => namesIn(`explorer/static/menus/${file}.js`)),
    ...namesIn("explorer/static/runs/heat.js"),
    ...["system", "light", "dark", "contrast"].map((theme) => `theme:${theme}`),
  ]);
  for (const name of Object.keys(FIELD_WORDS)) assert.ok(known.has(name), name);
});

/** The texts of a pane's modules. @param {string} pane @returns {string[]} */
function modulesOf(pane) {
  const folder = new URL(`explorer/static/panes/${pane}/`, ROOT);
  const inside = statSync(folder, { throwIfNoEntry: false })
    ? readdirSync(folder).map((file) => new URL(file, folder))
    : [];
  return [new URL(`explorer/static/panes/${pane}.js`, ROOT), ...inside].map((file) =>
    readFileSync(file, "utf8"),
  );
}

/** The names of commands that a module registers. @param {string} file @returns {string[]} */
function namesIn(file) {
  return [...readFileSync(new URL(file, ROOT), "utf8").matchAll(/name: "([\w-]+)"/g)].map(
    ([, name = ""]) => name,
  );
}
