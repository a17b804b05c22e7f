// Many rows as one parameter of a statement.

/** Many rows as one parameter of a statement, for `json_to_recordset`. A text that UTF-8 cannot hold gets replacement characters, as the driver makes them. */
export function toJsonRows(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}
