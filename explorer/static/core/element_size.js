/**
 * The size of an element, for drawings that fill it.
 *
 * @import { ReactiveController, ReactiveControllerHost } from "lit"
 */

/** Width and height of the content of an element in pixels; the element is drawn again when they change. */
export class ElementSize {
  /** @param {ReactiveControllerHost & HTMLElement} host */
  constructor(host) {
    this.host = host;
    this.width = 0;
    this.height = 0;
    this.observer = new ResizeObserver(() => this.read());
    host.addController(/** @type {ReactiveController} */ (this));
  }

  hostConnected() {
    this.observer.observe(this.host);
    this.read();
  }

  hostDisconnected() {
    this.observer.disconnect();
  }

  read() {
    const { clientWidth: width, clientHeight: height } = this.host;
    // A hidden element has no size. Rounding changes sizes by a pixel.
    const isSame = Math.abs(width - this.width) <= 1 && Math.abs(height - this.height) <= 1;
    if (width === 0 || isSame) return;
    this.width = width;
    this.height = height;
    this.host.requestUpdate();
  }
}
