// The value of a Content-Type header in its parts (RFC 9110, section 8.3.1).

const PARAMETER = /;\s*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/g;

/** `text/html`: in lower case, without its parameters. */
export function mediaType(value: string): string {
  const end = value.indexOf(';');
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase();
}

/** The parameters by their names in lower case. What is none is left out; of the same name, the first one counts. */
export function mediaTypeParameters(value: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of value.matchAll(PARAMETER)) {
    const key = name.toLowerCase();
    if (!parameters.has(key)) parameters.set(key, quoted === undefined ? plain.trim() : quoted.replace(/\\(.)/g, '$1'));
  }
  return parameters;
}
