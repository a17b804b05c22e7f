// CSV by RFC 4180: CRLF, and quotes where a cell has a comma, a quote or a line break.

/** What makes a spreadsheet take a cell for a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * One cell. A text that a spreadsheet would take for a formula gets an apostrophe before it, so that nothing runs when the
 * file is opened; numbers stay as they are. Lists and objects are JSON.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
