// CSV by RFC 4180: CRLF, and quotes where a cell has what could end it.

/** What makes a spreadsheet take a cell for a formula (OWASP, "CSV Injection"), also in full width, as East Asian ones write it. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;
/** What ends a cell, in some language's spreadsheet or other: the next one could begin with a formula. */
const SEPARATOR = /[",;\t\r\n]/;

/**
 * One cell. A text that a spreadsheet would take for a formula gets an apostrophe before it, so that nothing runs when the
 * file is opened; numbers stay as they are. Lists and objects are JSON.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return SEPARATOR.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
