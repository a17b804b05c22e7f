// Paths of requests, as rules and routes compare them.

/** What a path has none of that has one spelling and one reading: most of them. */
const UNUSUAL = /[^\w.~!$&'()*+,;=:@|^{}[\]/-]|\/[/.]/;
/** Escapes, and characters that stand unescaped only where a client is careless. */
const SPELLED = /%[0-9A-Fa-f]{2}|[^\w.~!$&'()*+,;=:@|^{}[\]/%-]/g;
/** Characters that mean the same whether they are escaped or not. Not `/`, `\`, `?`, `#`, `%`, quotes and `<>`. */
const PLAIN = /^[\w.~!$&'()*+,;=:@|^{}[\]-]$/;
/** What servers read as a separator, or may. */
const SEPARATORS = /(?:\/|%2F|%5C)+/g;
const PARENT = /\/\.\.(?:\/|$)/;
/** What servers differ in: an escape that is none, the end of a text in C, UTF-8 that is longer than it needs to be. */
const UNREADABLE = /%(?![0-9A-Fa-f]{2})|%00|%C[01]%[89AB]|%E0%[89]|%F0%8/i;

/** The path of a target in origin-form: what is before its query. */
export function pathOfTarget(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** A target or URL as those see it who may not see secrets, `/a?b=…&…`: of what has no name, nothing is known but that it was there. */
export function withoutQueryValues(target: string): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const query = target.slice(mark + 1).split('&');
  const shown = query.map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=…` : part && '…'));
  return `${target.slice(0, mark)}?${shown.join('&')}`;
}

/**
 * One spelling for all that mean the same: a character that may stand in a path (RFC 3986, section 3.3) is not escaped, any other
 * is, in upper case, and `.` and `..` are resolved. So `/%61dmin`, `/x/../admin` are `/admin`, and `/%40me` is `/@me`. It is what
 * is decoded once, written so that it can be a part of a URL: what stays escaped cannot become a separator, a query, or another
 * escape. Repeated slashes stay.
 * @param raw without the query.
 */
export function normalizePath(raw: string): string {
  return UNUSUAL.test(raw) ? withoutDots(spelledOnce(raw)) : raw;
}

/**
 * Whether servers differ in where a path leads, as some take `%2F`, `\` and `%5C` for slashes, and several slashes for one.
 * Whoever lets in by paths cannot know then what the upstream will do.
 * @param raw without the query.
 */
export function isAmbiguousPath(raw: string): boolean {
  return UNUSUAL.test(raw) && lenientPath(raw) !== normalizePath(raw);
}

/**
 * The path as the most lenient server reads it: `%2F`, `\` and `%5C` are slashes, several slashes are one. Parameters (`;a=b`)
 * stay a part of their segment.
 * @returns undefined where there is no telling: what is not well formed, and `..` among slashes that not all take for such.
 */
export function lenientPath(raw: string): string | undefined {
  if (UNREADABLE.test(raw)) return undefined;
  const path = spelledOnce(raw);
  const loose = path.replace(SEPARATORS, '/');
  return loose !== path && PARENT.test(loose) ? undefined : withoutDots(loose);
}

function spelledOnce(raw: string): string {
  return raw.replace(SPELLED, (found) => {
    // Targets are read as Latin-1: a character is a byte.
    const code = found.length > 1 ? Number.parseInt(found.slice(1), 16) : found.charCodeAt(0);
    const character = String.fromCharCode(code);
    return PLAIN.test(character) ? character : `%${code.toString(16).toUpperCase().padStart(2, '0')}`;
  });
}

function withoutDots(path: string): string {
  if (!path.includes('/.')) return path;
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [at, segment] of segments.entries()) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    const isLast = at === segments.length - 1;
    if (isLast && (segment === '.' || segment === '..')) kept.push('');
  }
  return `/${kept.join('/')}`;
}
