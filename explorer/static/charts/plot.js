/**
 * `<plot-figure>`: a plot by Plotly in the colours of the page, with its numbers as a table and with downloads.
 *
 * The library is fetched when the first plot is drawn. To use it in a template:
 *
 *     const plot = {
 *       label: "GB/s by size",
 *       fileName: "sweep",
 *       draw: (colors) => ({ traces: [{ x, y, name: plain(name) }], layout: { xaxis: { type: "log" } } }),
 *       table: { head: ["n", "GB/s"], rows: [["1024", "13.2"]] },
 *     };
 *     html`<plot-figure .content=${plot}></plot-figure>`
 *
 * `draw` is called again when the theme changes. Plotly reads texts as markup: texts of users go through `plain`. The
 * page's policy allows only the markup `<br>`.
 */
import { make, toast } from "../core/dom.js";
import { loadPlotly } from "./plot_library.js";
import { textSize } from "./text_size.js";
import { visible } from "../core/visible.js";

/**
 * @typedef {object} PlotColors the colors of tokens.css in this theme
 * @property {string} panel
 * @property {string} raise
 * @property {string} line
 * @property {string} edge
 * @property {string} text
 * @property {string} mute
 * @property {string} accent
 * @property {string} ok
 * @property {string} warn
 * @property {string} bad
 * @property {string[]} series hues that can be told apart by everybody
 *
 * @typedef {{traces: Record<string, unknown>[], layout?: Record<string, unknown>}} Drawing in Plotly's terms;
 *   titles of axes are texts
 * @typedef {object} PlotContent
 * @property {string} label a description of the plot for screen readers
 * @property {string} fileName without its suffix
 * @property {(colors: PlotColors, size: {width: number, height: number}) => Drawing} draw
 * @property {{head: string[], rows: string[][]}} table the same numbers
 */

const NAMES = /** @type {const} */ ([
  "panel",
  "raise",
  "line",
  "edge",
  "text",
  "mute",
  "accent",
  "ok",
  "warn",
  "bad",
]);
const SERIES = [6, 7, 4, 5, 2, 0, 1, 3];
const PICTURE_SCALE = 2;
const CONFIG = { displayModeBar: false, displaylogo: false, doubleClick: "reset", showTips: false };

/** Escape a text of a user for a place where Plotly would read markup. @param {string} text */
export function plain(text) {
  return visible(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

class PlotFigure extends HTMLElement {
  /** @type {PlotContent | null} */
  #content = null;
  canvas = make("div", { class: "plot-canvas", role: "img" });
  table = make("table", {});
  message = make("p", { class: "hint", role: "status" });
  frame = 0;
  isDrawn = false;
  themes = new MutationObserver(() => this.schedule());
  sizes = new ResizeObserver(() => this.schedule());

  connectedCallback() {
    if (!this.childElementCount) this.build();
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.sizes.observe(this.canvas);
    this.schedule();
  }

  disconnectedCallback() {
    this.themes.disconnect();
    this.sizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.isDrawn) void loadPlotly().then((plotly) => this.isConnected || plotly.purge(this.canvas));
    this.isDrawn = false;
  }

  build() {
    const save = (/** @type {"svg" | "png"} */ format) =>
      make(
        "button",
        {
          type: "button",
          class: "tool",
          title: `Download the plot as ${format.toUpperCase()}`,
          onclick: () => void this.save(format),
        },
        format.toUpperCase(),
      );
    this.append(
      this.canvas,
      this.message,
      make(
        "details",
        { class: "plot-table" },
        make("summary", {}, "As a table"),
        make(
          "div",
          { class: "plot-scroll", tabindex: "0", role: "group", "aria-label": "Numbers of the plot" },
          this.table,
        ),
      ),
      make("div", { class: "plot-tools" }, save("svg"), save("png")),
    );
  }

  get content() {
    return this.#content;
  }

  /** Set the content. The element draws it as soon as the element has a size. @param {PlotContent | null} content */
  set content(content) {
    this.#content = content;
    if (!content) return;
    this.canvas.setAttribute("aria-label", visible(content.label));
    const { head, rows } = content.table;
    this.table.setAttribute("aria-label", visible(content.label));
    this.table.replaceChildren(
      make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)))),
      make(
        "tbody",
        {},
        ...rows.map(([first = "", ...others]) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, first),
            ...others.map((value) => make("td", {}, value)),
          ),
        ),
      ),
    );
    this.schedule();
  }

  /** Draw in the next frame: size and theme change in many steps. */
  schedule() {
    if (!this.content || !this.isConnected) return;
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      void this.draw();
    });
  }

  async draw() {
    let plotly;
    try {
      plotly = await loadPlotly();
    } catch {
      this.canvas.hidden = true;
      this.message.textContent =
        "The plot could not be loaded; its numbers are in the table. Reload the page to draw it.";
      return;
    }
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!this.content || !this.isConnected || width === 0 || height === 0) return;
    const colors = colorsNow();
    const { traces, layout = {} } = this.content.draw(colors, { width, height });
    await plotly.react(this.canvas, traces, themed(layout, colors, width, height), CONFIG);
    this.isDrawn = true;
  }

  /** @param {"svg" | "png"} format */
  async save(format) {
    if (!this.content || !this.isDrawn) return;
    const plotly = await loadPlotly();
    const address = await plotly.toImage(this.canvas, {
      format: "svg",
      width: this.canvas.clientWidth,
      height: this.canvas.clientHeight,
    });
    const vector = new Blob([decodeURIComponent(address.slice(address.indexOf(",") + 1))], {
      type: "image/svg+xml",
    });
    const blob =
      format === "svg" ? vector : await picture(address, this.canvas.clientWidth, this.canvas.clientHeight);
    if (!blob) return toast("This browser could not make the picture.");
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: `${this.content.fileName}.${format}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}

/** Return the current colors of tokens.css. @returns {PlotColors} */
function colorsNow() {
  const style = getComputedStyle(document.documentElement);
  const named = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return /** @type {PlotColors} */ (
    /** @type {unknown} */ ({
      ...named,
      series: SERIES.map((index) => style.getPropertyValue(`--stripe-${index}`).trim()),
    })
  );
}

/** Return the color of a series of a plot, for a legend outside of the plot. @param {number} index */
export function seriesColor(index) {
  return `var(--stripe-${SERIES[index % SERIES.length]})`;
}

/**
 * A layout with the looks of the page.
 * @param {Record<string, unknown>} layout
 * @param {PlotColors} colors
 * @param {number} width
 * @param {number} height
 */
function themed(layout, colors, width, height) {
  const { fontFamily: family } = getComputedStyle(document.body);
  const axis = {
    gridcolor: colors.line,
    linecolor: colors.edge,
    tickcolor: colors.edge,
    zerolinecolor: colors.edge,
    automargin: true,
  };
  const axisOf = (/** @type {unknown} */ given) => {
    const own = /** @type {{title?: string}} */ (given ?? {});
    return {
      ...axis,
      ...own,
      title: { text: own.title ?? "", standoff: 8, font: { size: textSize("text") } },
    };
  };
  const looks = {
    width,
    height,
    margin: { l: 52, r: 14, t: 12, b: 40 },
    paper_bgcolor: colors.panel,
    plot_bgcolor: colors.panel,
    colorway: colors.series,
    font: { family, size: textSize("text"), color: colors.mute },
    hovermode: "closest",
    hoverlabel: {
      bgcolor: colors.raise,
      bordercolor: colors.edge,
      align: "left",
      font: { family, size: textSize("text"), color: colors.text },
    },
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", bgcolor: "rgba(0,0,0,0)" },
  };
  return { ...looks, ...layout, xaxis: axisOf(layout.xaxis), yaxis: axisOf(layout.yaxis) };
}

/**
 * @param {string} address of an SVG
 * @param {number} width
 * @param {number} height
 * @returns {Promise<Blob | null>}
 */
async function picture(address, width, height) {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = make("canvas", { width: width * PICTURE_SCALE, height: height * PICTURE_SCALE });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

customElements.define("plot-figure", PlotFigure);
