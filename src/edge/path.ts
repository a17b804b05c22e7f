// Paths of requests, as rules and routes compare them.

const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * One spelling for all that mean the same (RFC 3986, section 6.2.2): escapes of unreserved characters undone, others in upper
 * case, and `.` and `..` resolved. So `/%61dmin` and `/x/../admin` are `/admin`. Repeated slashes stay, as they mean something
 * else.
 * @param raw without the query.
 */
export function normalPath(raw: string): string {
  if (!raw.includes('%') && !raw.includes('/.')) return raw;
  const path = raw.replace(/%[0-9A-Fa-f]{2}/g, (coded) => {
    const character = String.fromCharCode(Number.parseInt(coded.slice(1), 16));
    return UNRESERVED.test(character) ? character : coded.toUpperCase();
  });
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
