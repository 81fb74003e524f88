/** Diagnostics underlined and marked beside their lines. The module is loaded with the first diagnostic. */
import { lintGutter, setDiagnostics } from "@codemirror/lint";

export const problemGutter = lintGutter();
export { setDiagnostics };
