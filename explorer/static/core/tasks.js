/** Split work into tasks: between two, the browser draws and answers the user. */

/**
 * Go on in a task of its own.
 * @returns {Promise<void>}
 */
export function nextTask() {
  const { scheduler } = /** @type {{scheduler?: {yield?: () => Promise<void>}}} */ (globalThis);
  // It comes before other work that waits, and a page in the background does not wait a second for it.
  return scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve));
}

/**
 * Do something once for all that asks for it until the next task.
 * @param {() => void} work
 * @returns {() => void} asks for it
 */
export function oncePerTask(work) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      work();
    });
  };
}
