/**
 * The labels in the plot of a roofline: the titles of dots and roofs. No title covers a dot or a different title.
 *
 * A title without a free place is omitted: the tooltip of its line, the table and the legend contain it.
 *
 * @import { Ceiling, Dot, Ridge } from "../../core/types.js"
 * @import { PlotColors } from "../../charts/plot.js"
 * @import { Box } from "../../charts/plot_labels.js"
 */
import { plain } from "../../charts/plot.js";
import { LabelRoom, textWidth } from "../../charts/plot_labels.js";
import { textSize } from "../../charts/text_size.js";
import { large } from "../../core/numbers.js";

/**
 * @typedef {{x: [number, number], y: [number, number]}} Range in powers of ten
 * @typedef {{roof: Ceiling, color: string, x: number[], y: number[]}} Roof as it is drawn
 * @typedef {{together: Dot[], titled: Dot[], size: number}} Spot a place with dots: all of them, the dots under its
 *   title, its size in pixels
 * @typedef {{range: Range, margin: {l: number, r: number, t: number, b: number}, width: number, height:
 *   number}} Frame
 * @typedef {Box & {text: string, cost: number}} Place the cost is in crossed lines
 */

/**
 * Below this width of the plot roofs are called by their names only, and the legend has the rates:
 * `.roofline-roofs` in roofline.css.
 */
const NARROW_PX = 480;
const LINE_PX = 14;
/** How far the middle of a title is from its line. */
const OFFSET_PX = 9;
const RIDGE_PX = 8;
const PLACES_ALONG = 17;
/** A title that crosses lines beside its dot costs less than a title that is one line farther away. */
const FAR = 10;

/**
 * @param {Frame} frame
 * @param {Roof[]} roofs
 * @param {Dot[]} dots
 * @param {Dot[]} timed the dots with a rate
 * @param {Spot[]} spots of the timed ones
 * @param {Ridge[]} ridges
 * @param {string} unit
 * @param {PlotColors} colors
 */
export function labelsOf(frame, roofs, dots, timed, spots, ridges, unit, colors) {
  const scale = new Scale(frame);
  const { margin, width, height } = frame;
  const room = new LabelRoom({
    x: margin.l,
    y: margin.t,
    width: width - margin.l - margin.r,
    height: height - margin.t - margin.b,
  });
  timed.forEach((dot, index) => room.block(square(scale.at(dot), spots[index]?.size ?? 0)));
  ridges.forEach((ridge) => room.block(square(scale.at(ridge), RIDGE_PX)));
  for (const { x, y } of roofs)
    room.avoid(scale.point(x[0] ?? 1, y[0] ?? 1), scale.point(x.at(-1) ?? 1, y.at(-1) ?? 1));
  timed.slice(1).forEach((dot, index) => room.avoid(scale.at(timed[index] ?? dot), scale.at(dot)));
  const untimed = untimedGroups(dots);
  for (const [first] of untimed)
    if (first)
      room.avoid(
        { x: scale.x(first.intensity), y: margin.t },
        { x: scale.x(first.intensity), y: height - margin.b },
      );
  return [
    ...timed.flatMap((dot, index) =>
      dotLabel(room, scale, dot, spots[index], Math.max(...spots.map(({ size }) => size)), colors),
    ),
    ...untimed.flatMap((group) => untimedLabel(room, scale, group, frame, colors)),
    ...roofs.flatMap((roof) => roofLabel(room, scale, roof, roofs, width < NARROW_PX, unit, colors)),
  ];
}

/** Convert values of the plot to pixels. */
class Scale {
  /** @param {Frame} frame */
  constructor({ range, margin, width, height }) {
    this.range = range;
    this.margin = margin;
    /** Pixels of a power of ten. */
    this.decade = {
      x: (width - margin.l - margin.r) / (range.x[1] - range.x[0]),
      y: (height - margin.t - margin.b) / (range.y[1] - range.y[0]),
    };
  }

  /** @param {number} intensity */
  x(intensity) {
    return this.margin.l + (Math.log10(intensity) - this.range.x[0]) * this.decade.x;
  }

  /** @param {number} intensity @param {number} rate */
  point(intensity, rate) {
    return { x: this.x(intensity), y: this.margin.t + (this.range.y[1] - Math.log10(rate)) * this.decade.y };
  }

  /** @param {{intensity: number, rate: number | null}} mark */
  at({ intensity, rate }) {
    return this.point(intensity, rate ?? 1);
  }
}

/**
 * @param {Room} room
 * @param {Scale} scale
 * @param {Dot} dot
 * @param {Spot | undefined} spot
 * @param {number} largest of the dots, in pixels
 * @param {PlotColors} colors
 * @typedef {LabelRoom} Room
 */
function dotLabel(room, scale, dot, spot, largest, colors) {
  if (!spot?.titled.length) return [];
  const text = spot.titled.map(({ title }) => title).join(", ");
  const width = textWidth(text, textSize("small"));
  const anchor = scale.at(dot);
  const [left, right] = [room.frame.x + width / 2, room.frame.x + room.frame.width - width / 2];
  const above = largest / 2 + 3 + LINE_PX / 2;
  const beside = spot.size / 2 + 4 + width / 2;
  const middle = Math.min(right, Math.max(left, anchor.x));
  /** @param {number} x @param {number} y @param {number} cost @returns {Place} */
  const place = (x, y, cost) => ({ text, cost, x, y, width, height: LINE_PX, angle: 0 });
  const places = [
    ...[0, 1, 2, 3].flatMap((row) =>
      [1, -1].flatMap((side) => {
        const y = anchor.y + side * (above + row * LINE_PX);
        const aside = Math.max(16, width / 3);
        const shifted = [Math.min(right, middle + aside), Math.max(left, middle - aside)];
        return [
          place(middle, y, FAR * row + (side < 0 ? 0.5 : 0)),
          ...shifted.map((x) => place(x, y, FAR * row + 1.5)),
        ];
      }),
    ),
    ...[1, -1].map((side) => place(anchor.x + side * beside, anchor.y, FAR / 2)),
  ];
  return annotation(
    room.place(places),
    anchor,
    dot.intensity,
    dot.rate ?? 1,
    textSize("small"),
    colors.text,
    colors,
  );
}

/** Group the dots without a rate by intensity. @param {Dot[]} dots @returns {Dot[][]} */
function untimedGroups(dots) {
  const untimed = dots
    .filter(({ rate }) => rate === null)
    .sort((one, other) => one.intensity - other.intensity);
  const places = [...new Set(untimed.map(({ intensity }) => intensity.toPrecision(2)))];
  return places.map((place) => untimed.filter(({ intensity }) => intensity.toPrecision(2) === place));
}

/**
 * Place the title of an intensity line at its upper end.
 * @param {Room} room
 * @param {Scale} scale
 * @param {Dot[]} group
 * @param {Frame} frame
 * @param {PlotColors} colors
 */
function untimedLabel(room, scale, group, { range, margin }, colors) {
  const text = group.map(({ title }) => title).join(", ");
  const width = textWidth(text, textSize("small"));
  const intensity = group[0]?.intensity ?? 1;
  const anchor = { x: scale.x(intensity), y: margin.t };
  const places = [0, 1, 2, 3, 4, 5].flatMap((row) =>
    [1, -1].map((side) => ({
      text,
      x: anchor.x + side * (4 + width / 2),
      y: anchor.y + LINE_PX * (row + 0.5),
      width,
      height: LINE_PX,
      angle: 0,
      cost: row + (side < 0 ? 0.5 : 0),
    })),
  );
  return annotation(
    room.place(places),
    anchor,
    intensity,
    10 ** range.y[1],
    textSize("small"),
    colors.text,
    colors,
  );
}

/**
 * Place the title of a roof along it: above roofs of the datasheet, below measured roofs.
 * A measured memory roof shares the title of the datasheet's roof, which is close.
 * @param {Room} room
 * @param {Scale} scale
 * @param {Roof} drawn
 * @param {Roof[]} roofs
 * @param {boolean} isNarrow
 * @param {string} unit
 * @param {PlotColors} colors
 */
function roofLabel(room, scale, { roof, x, y }, roofs, isNarrow, unit, colors) {
  const twin = roofs
    .map((each) => each.roof)
    .find(({ name, source }) => name === roof.name && source !== roof.source);
  if (twin && roof.source === "measured" && (isNarrow || roof.kind === "memory")) return [];
  const rated = `${roof.title} ${rateWords(roof, unit)}`;
  const texts = isNarrow
    ? [roof.title]
    : [
        ...(twin && roof.kind === "memory" ? [`${rated}, measured ${rateWords(twin, unit)}`] : []),
        rated,
        roof.title,
      ];
  const [foot, end] = [scale.point(x[0] ?? 1, y[0] ?? 1), scale.point(x.at(-1) ?? 1, y.at(-1) ?? 1)];
  const length = Math.hypot(end.x - foot.x, end.y - foot.y);
  const angle = Math.atan2(end.y - foot.y, end.x - foot.x);
  const side = roof.source === "measured" ? 1 : -1;
  /** @param {number} along pixels from the foot @param {number} aside pixels below the line */
  const beside = (along, aside) => ({
    x: foot.x + along * Math.cos(angle) - aside * Math.sin(angle),
    y: foot.y + along * Math.sin(angle) + aside * Math.cos(angle),
  });
  const places = texts.flatMap((text, shorter) => {
    const width = textWidth(text, textSize("small"));
    if (width > length) return [];
    return Array.from({ length: PLACES_ALONG }, (_, step) => step / (PLACES_ALONG - 1)).flatMap(
      (share, step) =>
        [side, -side].map((each) => {
          // Along a roof from its foot on, along a ceiling from its end.
          const along = width / 2 + (length - width) * (roof.kind === "memory" ? share : 1 - share);
          return {
            text,
            along,
            ...beside(along, each * OFFSET_PX),
            width,
            height: LINE_PX,
            angle,
            cost: 3 * shorter + 0.02 * step + (each === side ? 0 : 0.5),
          };
        }),
    );
  });
  const found = room.place(places);
  if (!found) return [];
  const share = found.along / length;
  const on = (/** @type {number[]} */ values) =>
    10 ** (Math.log10(values[0] ?? 1) * (1 - share) + Math.log10(values.at(-1) ?? 1) * share);
  return annotation(found, beside(found.along, 0), on(x), on(y), textSize("small"), colors.mute, colors);
}

/**
 * Return a Plotly annotation that keeps its place in the plot when the plot is zoomed.
 * @param {Place | null} place
 * @param {{x: number, y: number}} anchor in pixels
 * @param {number} intensity
 * @param {number} rate of the anchor
 * @param {number} size of the font @param {string} color @param {PlotColors} colors
 */
function annotation(place, anchor, intensity, rate, size, color, colors) {
  if (!place) return [];
  return [
    {
      x: Math.log10(intensity),
      y: Math.log10(rate),
      xshift: place.x - anchor.x,
      yshift: anchor.y - place.y,
      xanchor: "center",
      yanchor: "middle",
      text: plain(place.text),
      textangle: (place.angle * 180) / Math.PI,
      font: { size, color },
      showarrow: false,
      bgcolor: faded(colors.panel, 0.78),
      borderpad: 0,
    },
  ];
}

/** @param {{x: number, y: number}} center @param {number} size @returns {Box} */
function square({ x, y }, size) {
  return { x, y, width: size, height: size, angle: 0 };
}

/** @param {Ceiling} roof @param {string} unit */
export function rateWords(roof, unit) {
  return large(roof.rate, roof.kind === "memory" ? "B/s" : `${unit}/s`);
}

/** @param {string} color as in tokens.css: "#rrggbb" or "#rgb" @param {number} opacity */
export function faded(color, opacity) {
  const digits =
    color.length === 4
      ? [...color.slice(1)].map((digit) => digit + digit)
      : [1, 3, 5].map((at) => color.slice(at, at + 2));
  return `rgba(${digits.map((pair) => Number.parseInt(pair, 16)).join(",")},${opacity})`;
}
