/** Start the glossary page: add a filter to the terms in the server's HTML. */
import { register, startKeys } from "../core/commands.js";
import { byId, make, toast } from "../core/dom.js";
import { plural } from "../core/format.js";
import { startPageCommands } from "../menus/page_commands.js";

const field = /** @type {HTMLInputElement} */ (byId("glossary-filter"));
const entries = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".glossary-entry")]);
const sections = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".glossary section")]);

function filter() {
  const wanted = field.value.trim().toLowerCase();
  // If names match, texts are not searched: "bank" finds only the terms about banks.
  const named = entries.filter(({ dataset }) => dataset.words?.includes(wanted));
  const inText = (/** @type {HTMLElement} */ { textContent }) => textContent?.toLowerCase().includes(wanted);
  const found = new Set(named.length ? named : entries.filter(inText));
  for (const each of entries) each.hidden = !found.has(each);
  for (const each of sections) each.hidden = !each.querySelector(".glossary-entry:not([hidden])");
  const count = `${found.size} of ${plural(entries.length, "term")}`;
  byId("glossary-count").textContent = wanted ? count : "";
  byId("glossary-none").hidden = found.size > 0;
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("Link to the glossary copied.");
  } catch {
    toast("The address bar has the link to the glossary.");
  }
}

startKeys();
startPageCommands([["Click", "Put a term into the address"]]);
register([
  { name: "copy-link", title: "Copy the link", group: "Page", run: () => void copyLink() },
  { name: "filter", title: "Filter the terms", group: "Page", keys: ["/"], run: () => field.focus() },
]);
byId("copy-button").addEventListener("click", () => void copyLink());
byId("subject").replaceChildren(make("b", {}, "Glossary"));
document.title = "Glossary · triton·explorer";
field.hidden = false;
field.addEventListener("input", filter);
// A link cannot lead to a term that is filtered out.
addEventListener("hashchange", () => {
  if (document.querySelector(":target[hidden]")) {
    field.value = "";
    filter();
    document.querySelector(":target")?.scrollIntoView();
  }
});
