/** The parts of the browser that modules read when they are loaded: import this first. */

class MemoryStorage {
  /** @type {Map<string, string>} */
  items = new Map();

  /** @param {string} key */
  getItem(key) {
    return this.items.get(key) ?? null;
  }

  /** @param {string} key @param {string} value */
  setItem(key, value) {
    this.items.set(key, String(value));
  }

  /** @param {string} key */
  removeItem(key) {
    this.items.delete(key);
  }

  clear() {
    this.items.clear();
  }
}

const events = new EventTarget();
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"])
  Object.assign(globalThis, { [name]: Reflect.get(events, name).bind(events) });

Object.assign(globalThis, {
  window: globalThis,
  document: { body: { dataset: { host: "site" } } },
  location: { pathname: "/", hash: "", origin: "http://localhost" },
});
for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(globalThis, name, { value: new MemoryStorage(), configurable: true });
