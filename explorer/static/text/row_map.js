/**
 * Which row of a pane shows which line of its text, when some lines are hidden.
 *
 * Lines are numbered from 1, as in the download; rows count the shown lines, also from 1.
 */

export class RowMap {
  /**
   * @param {number} total lines of the text
   * @param {Uint8Array | null} [hidden] by line, from 1: not 0 if it is not shown; null: all are
   */
  constructor(total, hidden = null) {
    this.total = total;
    this.count = total;
    /** @type {Int32Array | null} the line of each row */
    this.lines = null;
    /** @type {Int32Array | null} the row of each line; of a hidden one, the row before it */
    this.rows = null;
    if (!hidden) return;
    const lines = new Int32Array(total + 1);
    const rows = new Int32Array(total + 1);
    let row = 0;
    for (let line = 1; line <= total; line += 1) {
      if (!hidden[line]) {
        row += 1;
        lines[row] = line;
      }
      rows[line] = row;
    }
    this.count = row;
    this.lines = lines;
    this.rows = rows;
  }

  /** @param {number} row from 1 to `count` @returns {number} its line */
  lineOf(row) {
    return this.lines ? (this.lines[row] ?? 0) : row;
  }

  /**
   * @param {number} line
   * @returns {number} its row, or where it is hidden that of the last line shown before it; 0: none
   */
  rowOf(line) {
    return this.rows ? (this.rows[line] ?? 0) : line;
  }

  /** @param {number} line */
  isShown(line) {
    return line >= 1 && line <= this.total && (!this.rows || this.lineOf(this.rowOf(line)) === line);
  }
}
