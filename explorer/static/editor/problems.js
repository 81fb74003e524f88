/** Problems underlined and marked beside their lines: fetched when there is the first one. */
import { lintGutter, setDiagnostics } from "@codemirror/lint";

export const problemGutter = lintGutter();
export { setDiagnostics };
