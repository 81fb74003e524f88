import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, inWindow, shortLabel } from "../../../../explorer/static/panes/barrier_phases/rows.js";

/** @param {number} step @param {number} phase @param {number} pending @param {number} bytes */
const state = (step, phase, pending, bytes) => ({ step, phase, pending, bytes, line: 7, by: "copies" });
/** @param {string} name @param {Partial<import("../../../../explorer/static/core/types.js").BarrierDocument>} more */
const barrier = (name, more) => ({
  ...{ name, allocation: 1, line: 2, count: 1, filled: [], arrivers: [], waiters: [] },
  ...{ completed_phases: 1, states: [state(0, 0, 1, 0)], end: null },
  ...more,
});
/** @param {Partial<import("../../../../explorer/static/core/types.js").BarrierPhasesDocument>} more */
const documentOf = (more) => ({
  ...{ steps: 9, recorded_steps: 9, is_cut: false, threads: [], barriers: [], total_barriers: 0 },
  ...{ in_flight: [], findings: [], assumed: [] },
  lines: [{ line: 7, operation: "ttng.wait_barrier", text: "", source_lines: [3] }],
  ...more,
});

test("an mbarrier is in one state at a time, until the steps end or it is invalidated", () => {
  const states = [state(0, 0, 1, 0), state(2, 0, 0, 2048), state(5, 1, 1, 0)];
  for (const [end, last] of [
    [null, 9],
    [7, 7],
  ]) {
    const [, group] = groupsOf(
      documentOf({ barriers: [barrier("%b[0]", { states, end, waiters: ["default"] })] }),
    );
    const cells = group?.rows[0]?.cells ?? [];
    assert.deepEqual(
      cells.map(({ first, end: next, label, kind, phase }) => [first, next, label, kind, phase]),
      [
        [0, 2, "1 due", "even", 0],
        [2, 5, "2 KiB", "even", 0],
        [5, last, "1 due", "odd", 1],
      ],
    );
  }
});

test("the mbarriers of an array are together, named after who arrives and who waits", () => {
  const groups = groupsOf(
    documentOf({
      barriers: [
        barrier("%f[0]", {
          filled: ["%a[0]", "%b[0]"],
          arrivers: ["default", "copies"],
          waiters: ["partition0"],
        }),
        barrier("%e[0]", { allocation: 5, arrivers: ["products"], waiters: ["partition1"] }),
        barrier("%f[1]", {
          filled: ["%a[1]", "%b[1]"],
          arrivers: ["default", "copies"],
          waiters: ["partition0"],
        }),
        barrier("%never", { allocation: 6 }),
      ],
    }),
  );
  assert.deepEqual(
    groups.map(({ title, rows }) => [title, rows.map((row) => row.title)]),
    [
      ["Threads", []],
      ["Copies of %a, %b → partition0", ["%f[0]", "%f[1]"]],
      ["Products → partition1", ["%e[0]"]],
    ],
  );
});

test("a unit says how many of its operations are under way, and leads to the first", () => {
  const copy = { unit: /** @type {const} */ ("copies"), barrier: 0, bytes: 1024 };
  const groups = groupsOf(
    documentOf({
      barriers: [barrier("%f[0]", {})],
      in_flight: [
        { ...copy, line: 5, first: 1, end: 4 },
        { ...copy, line: 6, first: 2, end: 5 },
        { ...copy, line: 7, first: 7, end: 8 },
      ],
    }),
  );
  assert.deepEqual(
    groups[1]?.rows[0]?.cells.map(({ first, end, label, line }) => [first, end, label, line]),
    [
      [1, 2, "1", 5],
      [2, 4, "2", 5],
      [4, 5, "1", 6],
      [7, 8, "1", 7],
    ],
  );
});

test("a wait that holds a thread says for what and how long", () => {
  const span = { line: 7, barrier: 0, parity: 1, is_endless: false };
  const [threads] = groupsOf(
    documentOf({
      barriers: [barrier("%f[0]", {})],
      threads: [
        {
          ...{ title: "partition0", line: 4, num_warps: 1 },
          spans: [
            { ...span, first: 0, end: 1 },
            { ...span, first: 1, end: 5 },
            { ...span, first: 5, end: 9, is_endless: true },
          ],
        },
      ],
    }),
  );
  const cells = threads?.rows[0]?.cells ?? [];
  assert.deepEqual(
    cells.map(({ label, kind }) => [label, kind]),
    [
      ["wait", "run"],
      ["wait %f[0]", "wait"],
      ["wait %f[0]", "endless"],
    ],
  );
  assert.match(cells[1]?.words ?? "", /steps 1 to 4: wait for %f\[0\] with parity 1, held for 3 steps/);
  assert.match(cells[2]?.words ?? "", /without end/);
});

test("cells are clipped to the steps that are drawn, with gaps between them", () => {
  const cell = (/** @type {number} */ first, /** @type {number} */ end) => ({
    ...{ first, end, label: "", words: "", line: 0, kind: "run" },
  });
  const drawn = inWindow([cell(0, 3), cell(5, 6), cell(8, 20)], 2, 10);
  assert.deepEqual(
    drawn.map(({ first, end, cell: own }) => [first, end, own?.first ?? null]),
    [
      [2, 3, 0],
      [3, 5, null],
      [5, 6, 5],
      [6, 8, null],
      [8, 10, 8],
    ],
  );
});

test("an operation has a short label", () => {
  assert.equal(shortLabel("ttng.tc_gen5_mma_scaled"), "mma");
  assert.equal(shortLabel("ttng.tmem_load"), "load");
});
