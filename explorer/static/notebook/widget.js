/**
 * The workbench as a widget of a notebook: the front end of `explorer/python/widget.py`, which anywidget loads.
 *
 * The saved page is in a frame that cannot reach the notebook. It sends its selection through a port
 * (`page/frame_selection.js`), and receives the selection from Python. The module imports nothing: a notebook gets it
 * as a text.
 *
 * @typedef {{stage?: string | null, line?: number | null, source_lines?: number[] | null}} Selection
 * @typedef {object} Model anywidget's model: the traits of the object in Python
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {(name: string, listener: () => void) => void} on
 * @property {(name: string, listener: () => void) => void} off
 * @property {() => void} save_changes
 */

/** `page/frame_selection.js` waits for it. */
const CONNECT = "triton-explorer:selection";

/** @param {{model: Model, el: HTMLElement}} view @returns {() => void} ends the view */
function render({ model, el }) {
  const template = document.createElement("template");
  template.innerHTML = model.get("frame");
  const frame = /** @type {HTMLIFrameElement} */ (template.content.firstElementChild);
  /** @type {MessagePort | null} */
  let port = null;
  /** The selection that the page has sent or got last. */
  let known = "";

  const send = () => {
    const selection = picked(model.get("selection"));
    if (JSON.stringify(selection) === known) return;
    known = JSON.stringify(selection);
    port?.postMessage(selection);
  };
  // The frame is loaded twice, with the code that unpacks the page and with the page, and again when a notebook moves
  // it.
  frame.addEventListener("load", () => {
    const channel = new MessageChannel();
    port?.close();
    port = channel.port1;
    port.onmessage = ({ data }) => {
      const selection = picked(data);
      known = JSON.stringify(selection);
      model.set("selection", selection);
      model.save_changes();
    };
    // The frame has an origin of its own, which has no name.
    frame.contentWindow?.postMessage(CONNECT, "*", [channel.port2]);
    known = JSON.stringify(picked({}));
    send();
  });
  model.on("change:selection", send);
  el.replaceChildren(frame);
  return () => {
    model.off("change:selection", send);
    port?.close();
  };
}

/** @param {Selection} selection @returns {Selection} with all of its fields, in order */
function picked({ stage, line, source_lines }) {
  return {
    stage: stage ?? null,
    line: line ?? null,
    source_lines: source_lines ?? (stage ? null : []),
  };
}

export default { render };
