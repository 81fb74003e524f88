/** A view of a larger drawing: dragging moves it, the wheel zooms. */

const SVG = "http://www.w3.org/2000/svg";
const SMALLEST = 0.02;
const LARGEST = 4;
/** Below this scale, texts are not drawn. */
const READABLE = 0.3;
/** The scale at which a larger drawing opens: its labels have 11 pixels, like the small texts of the page. */
const OPENING = 1.1;
/** A drawing opens as a whole if its labels are at least this large. */
const LEGIBLE = 0.9;
const CLICK_PX = 4;

export class Viewport {
  scale = 1;
  x = 0;
  y = 0;
  width = 0;
  height = 0;
  frame = 0;

  /**
   * @param {(part: string, event: MouseEvent) => void} choose called with the part that is clicked, "" beside
   *   all
   */
  constructor(choose) {
    this.element = /** @type {SVGSVGElement} */ (document.createElementNS(SVG, "svg"));
    this.element.setAttribute("class", "graph-svg");
    this.element.setAttribute("aria-hidden", "true");
    this.content = document.createElementNS(SVG, "g");
    this.element.append(this.content);
    this.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.element.addEventListener("pointerdown", (event) => this.drag(event, choose));
  }

  /**
   * Show a drawing, as a whole.
   * @param {SVGGElement | null} drawing
   * @param {number} width
   * @param {number} height
   */
  show(drawing, width, height) {
    this.content.replaceChildren(...(drawing ? [drawing] : []));
    this.width = width;
    this.height = height;
    this.fit();
  }

  /** Show all of it. */
  fit() {
    const { clientWidth, clientHeight } = this.element;
    if (!clientWidth || !this.width) return;
    const whole = Math.min(clientWidth / this.width, clientHeight / this.height) * 0.97;
    this.scale = Math.min(1, Math.max(SMALLEST, whole));
    this.x = (clientWidth - this.width * this.scale) / 2;
    this.y = Math.max(4, (clientHeight - this.height * this.scale) / 2);
    this.draw();
  }

  /**
   * Show all of it if its labels can be read then, otherwise as much as fits around a part.
   * @param {SVGGElement | null} part
   */
  open(part) {
    this.fit();
    if (this.scale >= LEGIBLE || !part || !this.width) return;
    this.scale = OPENING;
    this.transform();
    const own = part.getBoundingClientRect();
    const frame = this.element.getBoundingClientRect();
    this.x += frame.width / 2 - ((own.left + own.right) / 2 - frame.left);
    this.y += frame.height * 0.3 - (own.top - frame.top);
    // At once: a part that is revealed next is measured where it is drawn.
    this.transform();
  }

  /** @param {number} factor @param {number} [atX] in the element @param {number} [atY] */
  zoom(factor, atX = this.element.clientWidth / 2, atY = this.element.clientHeight / 2) {
    const scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    this.x = atX - ((atX - this.x) * scale) / this.scale;
    this.y = atY - ((atY - this.y) * scale) / this.scale;
    this.scale = scale;
    this.draw();
  }

  /**
   * Bring a part to the middle, at a size that can be read, unless it is in sight.
   * @param {SVGGElement} part
   */
  reveal(part) {
    const own = part.getBoundingClientRect();
    const frame = this.element.getBoundingClientRect();
    const isReadable = this.scale >= READABLE;
    const isInside =
      own.left >= frame.left &&
      own.right <= frame.right &&
      own.top >= frame.top &&
      own.bottom <= frame.bottom;
    if (isReadable && isInside) return;
    const middleX = (own.left + own.right) / 2 - frame.left;
    const middleY = (own.top + own.bottom) / 2 - frame.top;
    this.x += frame.width / 2 - middleX;
    this.y += frame.height / 2 - middleY;
    if (isReadable) this.draw();
    else this.zoom(0.8 / this.scale);
  }

  draw() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.transform();
    });
  }

  transform() {
    this.content.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale})`);
    this.element.classList.toggle("is-far", this.scale < READABLE);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    event.preventDefault();
    const { left, top } = this.element.getBoundingClientRect();
    this.zoom(
      Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 400),
      event.clientX - left,
      event.clientY - top,
    );
  }

  /** @param {PointerEvent} event @param {(part: string, event: MouseEvent) => void} choose */
  drag(event, choose) {
    if (event.button !== 0) return;
    const start = { x: event.clientX, y: event.clientY, atX: this.x, atY: this.y };
    const target = event.target instanceof Element ? event.target.closest(".node") : null;
    let isDrag = false;
    const ends = new AbortController();
    const { signal } = ends;
    this.element.setPointerCapture(event.pointerId);
    this.element.addEventListener(
      "pointermove",
      (move) => {
        isDrag ||= Math.hypot(move.clientX - start.x, move.clientY - start.y) > CLICK_PX;
        if (!isDrag) return;
        this.x = start.atX + move.clientX - start.x;
        this.y = start.atY + move.clientY - start.y;
        this.draw();
      },
      { signal },
    );
    this.element.addEventListener(
      "pointerup",
      (up) => {
        ends.abort();
        if (!isDrag) choose(target?.getAttribute("data-part") ?? "", up);
      },
      { signal },
    );
    this.element.addEventListener("pointercancel", () => ends.abort(), { signal });
  }
}
