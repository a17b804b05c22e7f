// Parses URLs.

import { spendText } from '../cost-budget.ts';

/** The base of relative URLs. */
const BASE = 'http://base.invalid';

/** Whether a text is a URL with a scheme and a host. */
export function isUrl(text: string): boolean {
  spendText(text.length * 16);
  return /^[a-z][a-z\d+.-]*:\/\/[^/?#]/i.test(text) && !/\s/.test(text) && URL.canParse(text);
}

/**
 * Parses a URL, or a reference that starts with `/`, into its parts. A missing part is an empty text. `host` includes an
 * explicit port, `query` has no `?` and `fragment` no `#`.
 * @throws {Error} for any other text.
 */
export function parseUrl(text: string): Map<string, string> {
  const isRelative = text.startsWith('/') && !text.startsWith('//');
  if (!isRelative && !isUrl(text)) throw new Error('is not a URL: it must begin with a scheme, as https://, or with /');
  spendText(text.length * 16);
  const url = new URL(text, BASE);
  const own = (value: string) => (isRelative ? '' : value);
  return new Map([
    ['scheme', own(url.protocol.slice(0, -1))],
    ['host', own(url.host)],
    ['hostname', own(url.hostname)],
    ['port', own(url.port)],
    ['path', url.pathname],
    ['query', url.search.slice(1)],
    ['fragment', url.hash.slice(1)],
    ['username', decode(url.username)],
    ['password', decode(url.password)],
  ]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
