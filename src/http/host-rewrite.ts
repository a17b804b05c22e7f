// Requests to services that want to be asked by a name of their own, such as development servers, and their answers, which must lead
// visitors to the name that these know.

import type { HttpRequest, HttpResponse, ServiceHost, ServiceOrigin } from './exchange.ts';
import type { HeaderList } from './header-list.ts';

/** A name or an address, and perhaps a port. */
const HOST = /^(?:[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** What in a request names the endpoint, besides `Host`. */
const OF_REQUEST = new Set(['origin', 'referer', 'destination']);

/** What is said of a text that `readServiceHost` does not take, after its name. */
export const SERVICE_HOST_FORMS = 'must be "rewrite", a host, as localhost:3000, or an origin, as https://printer.lan';

/** Reads `rewrite`, `localhost:3000` or `https://printer.lan`. @returns undefined when it is none of them. */
export function readServiceHost(text: string): ServiceHost | undefined {
  return text === 'rewrite' ? text : readServiceOrigin(text);
}

/**
 * The name by which a service is asked.
 * @param address what its tunnel leads to, as the agent says it; where that is no address of a server, nothing is rewritten.
 */
export function originOf(host: ServiceHost | undefined, address: string | undefined): ServiceOrigin | undefined {
  if (host !== 'rewrite') return host;
  const origin = readServiceOrigin((address ?? '').replace(/\/$/, ''));
  return origin && { ...origin, host: origin.host.replace(origin.scheme === 'https' ? /:443$/ : /:80$/, '') };
}

function readServiceOrigin(text: string): ServiceOrigin | undefined {
  const [, scheme = 'http', host = ''] = /^(?:(https?):\/\/)?([^/]*)$/.exec(text) ?? [];
  return HOST.test(host) ? { scheme: scheme as ServiceOrigin['scheme'], host } : undefined;
}

/** Asks the service by its own name: in `Host`, and in the fields that browsers and WebDAV clients make of the endpoint's. */
export function askByName(request: HttpRequest, { scheme, host }: ServiceOrigin): void {
  const visited = request.received?.host ?? request.host;
  request.host = host;
  changeFields(request.fields, (name, value) =>
    OF_REQUEST.has(name) ? withOrigin(value, visited, `${scheme}://${host}`) : value,
  );
}

/** Lets an answer of the service lead to the endpoint again: where it names the service itself, and nowhere else. */
export function answerByName(response: HttpResponse, request: HttpRequest, { host }: ServiceOrigin): void {
  const visited = request.received?.host ?? request.host;
  const origin = `${request.scheme}://${visited}`;
  changeFields(response.fields, (name, value) => {
    if (name === 'location' || name === 'content-location') return withOrigin(value, host, origin);
    if (name === 'refresh')
      return value.replace(/(;\s*url\s*=\s*["']?)(.*)/i, (_, before, url) => before + withOrigin(url, host, origin));
    if (name === 'set-cookie') return withDomain(value, nameOf(host), nameOf(visited));
    return value;
  });
}

/** A URL of a host, whatever its scheme, with another origin; others as they are. */
function withOrigin(url: string, host: string, origin: string): string {
  const [prefix = '', found = ''] = /^(?:https?:)?\/\/([^/?#]*)/i.exec(url) ?? [];
  return found !== '' && found.toLowerCase() === host.toLowerCase() ? `${origin}${url.slice(prefix.length)}` : url;
}

function withDomain(cookie: string, from: string, to: string): string {
  return cookie.replace(/(;\s*domain\s*=\s*)\.?([^;\s]*)/gi, (whole, before: string, domain: string) =>
    domain.toLowerCase() === from ? `${before}${to}` : whole,
  );
}

const nameOf = (host: string) => host.replace(/:\d+$/, '').toLowerCase();

/** @param change gets names in lower case. */
function changeFields(fields: HeaderList, change: (name: string, value: string) => string): void {
  fields.changeValues((name, value) => change(name.toLowerCase(), value));
}
