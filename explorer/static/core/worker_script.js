/** The scripts of web workers. */
import { api } from "./api.js";
import { isFile } from "./host.js";
import { store } from "./store.js";

/** The addresses of the scripts that a saved page contains. @type {Map<string, Promise<string>>} */
const unpacked = new Map();

/** Return the address of the script of a worker. @param {string} name @returns {Promise<string>} */
export async function workerAddress(name) {
  const address = store.state.workers[name] ?? "";
  if (!isFile) return address;
  let made = unpacked.get(name);
  if (!made) {
    unpacked.set(name, (made = api.script(address).then((script) => URL.createObjectURL(script))));
    made.catch(() => unpacked.delete(name));
  }
  return made;
}
