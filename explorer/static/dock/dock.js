/**
 * The arrangement of the panes, in dockview's terms and in the terms of the address.
 *
 * A pane is the element `<pane-NAME>`, whose module is loaded when the first pane of this name opens. The element gets
 * its state (a short text after "NAME:" in the address) as the property `paneState`, and dispatches bubbling events:
 * `pane-state` (detail: its new state), `pane-open` (detail: "NAME:STATE") and `pane-beside` (like `pane-open`, without
 * covering the element's own pane).
 *
 * @import { DockviewApi, DockviewGroupPanel, IDockviewPanel, SerializedDockview } from "dockview-core"
 * @import { Layout } from "../core/view.js"
 */
import { createDockview, Orientation } from "dockview-core";
import { panelsWithTab } from "./doubles.js";
import { addressOf, kindOf, known, panelParams, parse, shows, titleOf } from "./pane_address.js";
import { PaneContent, PaneTab } from "./pane_content.js";
import { keepTabInSight } from "./tab_in_sight.js";
import { previewOf } from "./preview.js";
import { make } from "../core/dom.js";
import { LOWERING } from "./presets.js";
import { store } from "../core/store.js";
import { groupsOf } from "../core/view.js";

const narrow = matchMedia("(max-width: 720px)");

export class Dock {
  /**
   * @param {HTMLElement} element
   * @param {() => void} changed called after every change of the arrangement
   */
  constructor(element, changed) {
    this.element = element;
    this.changed = changed;
    this.count = 0;
    this.silent = false;
    /** @type {Map<string, PaneContent>} */
    this.contents = new Map();
    /** @type {DockviewApi} */
    this.api = createDockview(element, {
      theme: { name: "explorer", className: "dock", gap: 1, tabAnimation: "default" },
      disableFloatingGroups: true,
      scrollbars: "native",
      nonce: document.querySelector("meta[name=csp-nonce]")?.getAttribute("content") ?? "",
      createComponent: ({ id }) => {
        const content = new PaneContent(this, id);
        this.contents.set(id, content);
        return content;
      },
      createTabComponent: ({ id }) =>
        new PaneTab(
          () => this.contents.get(id)?.params,
          () => this.api.getPanel(id)?.view.tab.element.hidden,
        ),
      createRightHeaderActionComponent: (group) => this.groupActions(group),
      createWatermarkComponent: () => ({
        element: this.emptyDock(),
        init() {},
      }),
    });
    const report = () => {
      if (this.silent) return;
      this.updateVisible();
      this.changed();
    };
    this.api.onDidAddGroup(({ element: group }) => keepTabInSight(group));
    this.api.onDidLayoutChange(report);
    this.api.onDidActivePanelChange(report);
    store.watch(["result", "targets", "stageKinds", "draft"], () => this.retitle());
    narrow.addEventListener("change", () => this.show(this.wide ?? this.layout()));
  }

  /** The layout before the window became too narrow for two groups. @type {Layout | null} */
  wide = null;

  /**
   * Arrange everything anew. A pane that stays open keeps what it shows and does, such as a search.
   * @param {Layout | null} layout null: the arrangement of a first visit
   */
  show(layout) {
    let wanted = known(layout) ?? LOWERING.layout;
    this.wide = narrow.matches ? structuredClone(wanted) : null;
    if (narrow.matches) {
      const groups = groupsOf(wanted);
      wanted = {
        panes: [...new Set(groups.flatMap(({ panes }) => panes))],
        active: groups[0]?.active ?? 0,
        share: 0,
      };
    }
    this.silent = true;
    // Dockview measures its element with the next frame: until then, the borders would be misplaced.
    const { clientWidth, clientHeight } = this.element;
    this.api.layout(clientWidth, clientHeight);
    this.api.fromJSON(this.toDockview(wanted), { reuseExistingPanels: true });
    this.silent = false;
    this.updateVisible();
  }

  /** A pane has another state. @param {string} before the address of the pane @param {string} after */
  readdress(before, after) {
    const group = this.wide && groupsOf(this.wide).find(({ panes }) => panes.includes(before));
    if (group) group.panes[group.panes.indexOf(before)] = after;
  }

  /** Arrange the panes as a preset does. @param {import("./presets.js").Preset} preset */
  arrange({ layout, reading }) {
    this.show(layout);
    store.update({ reading });
    this.changed();
  }

  /**
   * Arrange the open panes by a layout. If the same panes are already open, only the tabs in front change.
   * @param {Layout | null} layout
   */
  change(layout) {
    const wanted = known(layout) ?? LOWERING.layout;
    const now = this.layout();
    const panesOf = (/** @type {Layout | null} */ each) =>
      each ? JSON.stringify(groupsOf(each).map(({ panes }) => panes)) : "";
    if (narrow.matches || panesOf(now) !== panesOf(wanted)) return this.show(layout);
    /** @type {string[][]} */
    const ids = [];
    const read = (/** @type {SerializedDockview["grid"]["root"]} */ node) => {
      if (Array.isArray(node.data)) node.data.forEach(read);
      else if (node.data.views.length) ids.push(node.data.views);
    };
    read(this.api.toJSON().grid.root);
    groupsOf(wanted).forEach(({ active }, index) => {
      const panel = this.api.getPanel(ids[index]?.[active] ?? "");
      if (panel && panel.group.activePanel !== panel) panel.api.setActive();
    });
    this.updateVisible();
    return undefined;
  }

  /** Return the current arrangement. @returns {Layout | null} */
  layout() {
    if (this.wide) return this.wide;
    const { grid, panels } = this.api.toJSON();
    /** @param {typeof grid.root} node @param {number} total @returns {Layout | null} */
    const read = (node, total) => {
      const share = total ? (100 * (node.size ?? 0)) / total : 0;
      if (Array.isArray(node.data)) {
        const sum = node.data.reduce((all, child) => all + (child.size ?? 0), 0);
        const children = node.data.map((child) => read(child, sum)).filter((child) => child !== null);
        if (children.length === 0) return null;
        return children.length === 1
          ? { .../** @type {Layout} */ (children[0]), share }
          : { children, share };
      }
      const { views, activeView } = node.data;
      if (views.length === 0) return null;
      const panes = views.map((id) => addressOf(panels[id]?.params));
      return { panes, active: Math.max(0, views.indexOf(activeView ?? "")), share };
    };
    return read(grid.root, 0);
  }

  /**
   * Bring an open pane to the front, or open it in the active group.
   * @param {string} address
   * @param {DockviewGroupPanel} [group]
   */
  open(address, group = this.api.activeGroup) {
    const { name, state } = parse(address);
    const fits = (/** @type {IDockviewPanel} */ panel) => shows(panel, address);
    const inGroup = group?.panels.find(fits);
    const visible = this.api.groups.map((each) => each.activePanel).find((panel) => panel && fits(panel));
    const panel = visible ?? inGroup ?? this.api.panels.find(fits);
    if (panel) {
      panel.api.setActive();
      if (!kindOf(name)?.per_stage && state) this.contents.get(panel.id)?.setState(state);
    } else {
      this.preview(name, state, group);
    }
  }

  /**
   * Open a pane in place of the preview of a group: a pane that was only looked at.
   * @param {string} name @param {string} state @param {DockviewGroupPanel} [group]
   */
  preview(name, state, group) {
    const before = group && previewOf(group.panels);
    const position = group && {
      referenceGroup: group,
      ...(before ? { index: group.panels.indexOf(before) } : {}),
    };
    this.add(name, state, position, true);
    before?.api.close();
  }

  /** Bring a pane to the front without covering the active one. @param {string} address */
  openBeside(address) {
    const { groups, activeGroup } = this.api;
    const { name, state } = parse(address);
    const isThere = this.api.panels.some((panel) => panelParams(panel).name === name);
    const other = groups.find((group) => group !== activeGroup);
    if (isThere || other || narrow.matches || !activeGroup) this.open(address, other ?? activeGroup);
    else this.add(name, state, { referenceGroup: activeGroup, direction: "right" });
  }

  /**
   * @param {string} name @param {string} state
   * @param {{referenceGroup: DockviewGroupPanel, direction?: "right" | "below", index?: number}} [position]
   * @param {boolean} [isPreview]
   */
  add(name, state, position, isPreview = false) {
    this.api.addPanel({
      id: this.freshId(),
      component: "pane",
      tabComponent: "pane",
      title: titleOf(name, state),
      params: { name, state, isPreview },
      ...(position ? { position } : {}),
    });
  }

  /**
   * Bring a pane to the front in a given group.
   * @param {DockviewGroupPanel} group
   * @param {string} address
   */
  addTo(group, address) {
    const there = group.panels.find((panel) => shows(panel, address));
    const { name, state } = parse(address);
    if (there) there.api.setActive();
    else this.preview(name, state, group);
  }

  /**
   * Open a second copy of the pane in front of a group, beside the group.
   * @param {DockviewGroupPanel} group
   * @param {"right" | "below"} direction
   */
  split(group, direction) {
    if (!group.activePanel) return;
    const { name, state } = panelParams(group.activePanel);
    this.add(name, state, { referenceGroup: group, direction });
  }

  /** Close the pane in front of the active group. */
  close() {
    this.api.activePanel?.api.close();
  }

  /** Go to a neighboring tab of the active group. @param {1 | -1} step */
  stepTab(step) {
    const group = this.api.activeGroup;
    if (!group) return;
    const panels = group.panels.filter((panel) => !panel.view.tab.element.hidden);
    const at = panels.findIndex((panel) => panel === group.activePanel);
    panels[(at + step + panels.length) % panels.length]?.api.setActive();
    this.focus();
  }

  /** Go to a neighboring group. @param {1 | -1} step */
  stepGroup(step) {
    const { groups, activeGroup } = this.api;
    if (!activeGroup) return;
    groups[
      (groups.indexOf(activeGroup) + step + groups.length) % groups.length
    ]?.activePanel?.api.setActive();
    this.focus();
  }

  /** Open a second copy of the active pane beside it. @param {"right" | "below"} direction */
  splitActive(direction) {
    if (this.api.activeGroup) this.split(this.api.activeGroup, direction);
  }

  /** Put the focus into the active pane. */
  focus() {
    this.contents.get(this.api.activePanel?.id ?? "")?.focus();
  }

  freshId() {
    this.count += 1;
    return `pane-${this.count}`;
  }

  /** @param {Layout} layout @returns {SerializedDockview} */
  toDockview(layout) {
    /** @type {SerializedDockview["panels"]} */
    const panels = {};
    const open = new Map(this.api.panels.map((panel) => [addressOf(panelParams(panel)), panel.id]));
    const size = 1000;
    let groupCount = 0;
    let activeGroup = "";
    /** @param {Layout} node @param {number} share @returns {SerializedDockview["grid"]["root"]} */
    const write = (node, share) => {
      if ("children" in node) {
        const left = node.children.filter((child) => !child.share).length;
        const given = node.children.reduce((sum, child) => sum + child.share, 0);
        const data = node.children.map((child) =>
          write(child, child.share || Math.max(10, (100 - given) / left)),
        );
        return { type: "branch", data, size: size * share };
      }
      const views = node.panes.map((address) => {
        const { name, state } = parse(address);
        const id = open.get(address) ?? this.freshId();
        open.delete(address);
        panels[id] = {
          id,
          contentComponent: "pane",
          tabComponent: "pane",
          title: titleOf(name, state),
          params: { name, state },
        };
        return id;
      });
      groupCount += 1;
      const id = `group-${groupCount}`;
      activeGroup ||= id;
      return {
        type: "leaf",
        data: { views, activeView: views[node.active] ?? views[0], id },
        size: size * share,
      };
    };
    const tree = write(layout, 100);
    /** @type {SerializedDockview["grid"]["root"]} */
    const root = tree.type === "branch" ? tree : { type: "branch", data: [tree], size: tree.size };
    return {
      grid: { root, width: size * 100, height: size * 100, orientation: Orientation.HORIZONTAL },
      panels,
      activeGroup,
    };
  }

  /** Store which panes and stages are visible. */
  updateVisible() {
    const shown = this.api.groups
      .map((group) => group.activePanel)
      .filter((panel) => panel !== undefined)
      .map(panelParams);
    const visible = shown.filter(({ name }) => kindOf(name)?.per_stage).map(({ state }) => state);
    const inFront = shown.map(({ name }) => name);
    if (visible.join() !== store.state.visible.join()) store.update({ visible });
    if (inFront.join() !== store.state.inFront.join()) store.update({ inFront });
    this.hideDoubles();
  }

  /** Show one tab of the panes of a group that show the same stage. */
  hideDoubles() {
    for (const group of this.api.groups) {
      const withTab = new Set(panelsWithTab(group));
      for (const panel of group.panels) panel.view.tab.element.hidden = !withTab.has(panel);
    }
  }

  /** Set the titles of the tabs from the content of their panes. */
  retitle() {
    for (const panel of this.api?.panels ?? []) {
      const { name, state } = panelParams(panel);
      panel.api.setTitle(titleOf(name, state));
    }
    if (this.api) this.hideDoubles();
  }

  /** @param {DockviewGroupPanel} group */
  groupActions(group) {
    const button = (
      /** @type {string} */ label,
      /** @type {string} */ text,
      /** @type {(event: Event) => void} */ onclick,
    ) => make("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick }, text);
    const element = make(
      "div",
      { class: "group-actions" },
      button("Add a pane here", "+", (event) => {
        element.dispatchEvent(
          new CustomEvent("pane-menu", { bubbles: true, detail: { group, anchor: event.currentTarget } }),
        );
      }),
      button("Split to the right", "◫", () => this.split(group, "right")),
    );
    return { element, init() {}, dispose() {} };
  }

  emptyDock() {
    return make(
      "div",
      { class: "empty" },
      make("p", {}, "No pane is open."),
      make(
        "button",
        {
          type: "button",
          class: "button",
          onclick: () => {
            this.show(LOWERING.layout);
            this.changed();
          },
        },
        "Open the first two",
      ),
    );
  }
}
