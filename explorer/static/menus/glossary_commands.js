/** The terms of the glossary as commands of the palette: each opens the term on its page. */
import { isFile } from "../core/host.js";
import { allTerms, loadTerms } from "../glossary/marks.js";

/** None where there is no server, or no answer. @returns {Promise<import("../core/commands.js").Command[]>} */
export async function glossaryCommands() {
  if (isFile) return [];
  await loadTerms();
  return allTerms().map(({ name, title }) => ({
    name: `term:${name}`,
    title,
    group: "Glossary",
    run: () => void open(`/glossary#${name}`, "_blank", "noopener"),
  }));
}
