// Requests as commands of curl, without what is secret.

export interface CurlRequest {
  method: string;
  url: string;
  /** Without secrets. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** A text; left out where it is not known. */
  body?: string | undefined;
}

/** What curl makes itself. */
const OWN_HEADERS = /^(?:host|connection|content-length|transfer-encoding)$/i;

/** A command for a POSIX shell. */
export function curlCommand({ method, url, headers = [], body }: CurlRequest): string {
  const sent = headers.filter(([name]) => !OWN_HEADERS.test(name));
  const isUsual = method === (body === undefined ? 'GET' : 'POST');
  return [
    'curl',
    ...(method === 'HEAD' ? ['--head'] : isUsual ? [] : ['--request', quoted(method)]),
    quoted(url),
    ...sent.flatMap(([name, value]) => ['--header', quoted(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ['--data-raw', quoted(body)]),
  ].join(' ');
}

/** In single quotes, in which a shell reads nothing but the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
