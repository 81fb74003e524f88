/** The commands that the palette finds for who types, and does not list: the tours, and the terms of the glossary. */
import { canCompile, isFile } from "../core/host.js";
import { store } from "../core/store.js";
import { loadTerms } from "../glossary/marks.js";
import { allTerms } from "../glossary/pieces.js";
import { tourRows } from "../lessons/tour_rows.js";

/** None where there is no server, or no answer. @returns {Promise<import("../core/commands.js").Command[]>} */
export async function typedCommands() {
  if (isFile) return [];
  const [rows] = await Promise.all([canCompile ? tourRows() : [], loadTerms()]);
  const tours = rows.map(({ name, title, question }) => ({
    name: `tour:${name}`,
    title,
    group: "Tour",
    summary: question,
    run: () => openLesson(`tour=${name}.1`),
  }));
  const terms = allTerms().map(({ name, title }) => ({
    name: `term:${name}`,
    title,
    group: "Glossary",
    run: () => void open(`/glossary#${name}`, "_blank", "noopener"),
  }));
  return [...tours, ...terms];
}

/** Show a lesson here, if this page has panes. @param {string} lesson */
function openLesson(lesson) {
  if (document.getElementById("panes")) store.update({ lesson });
  else location.assign(`/#${lesson}`);
}
