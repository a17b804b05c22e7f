// A browser as far as signing in needs one: it keeps cookies by host, follows redirects, and fills in forms. Names of endpoints lead
// to the gateway's listener, as they would in a browser by `*.localhost`.

import { type IncomingHttpHeaders, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

/** A page, at the end of all redirects. */
export interface Page {
  url: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** The redirects that led here. */
  way: string[];
}

export interface PageOptions {
  method?: string;
  /** Undefined leaves one of the usual ones out. */
  headers?: Record<string, string | undefined>;
  form?: Record<string, string>;
  /** Whether redirects are followed; true when left out. */
  follows?: boolean;
  /** Stops before a redirect to such a URL: the page is the redirect. */
  until?(url: string): boolean;
}

const REDIRECTS_MAX = 20;
/** What a browser sends when somebody opens a page. */
const NAVIGATION = {
  accept: 'text/html,*/*;q=0.8',
  ...{ 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' },
};

export class Browser {
  /** Host and port of the gateway's listener for visitors, and of that for HTTPS. */
  listener: string;
  readonly #https: { listener: string; ca: string };
  /** Cookies of whole hosts by host, by name. Ports share cookies (RFC 6265, section 8.5). */
  readonly cookies = new Map<string, Map<string, string>>();
  /** Those of paths below a host, as in `127.0.0.1/interaction/1`. */
  readonly #ofPaths = new Map<string, Map<string, string>>();

  constructor(listener: string, https: { listener: string; ca: string }) {
    this.listener = listener;
    this.#https = https;
  }

  /** Opens a page. */
  async open(
    url: string,
    { method = 'GET', headers = {}, form, follows = true, until }: PageOptions = {},
  ): Promise<Page> {
    const way: string[] = [];
    let page = await this.#send(url, method, { ...NAVIGATION, ...headers }, form);
    while (follows && page.status >= 300 && page.status < 400 && page.headers.location !== undefined) {
      if (until?.(new URL(page.headers.location, page.url).href)) break;
      if (way.push(page.url) > REDIRECTS_MAX) throw new Error(`too many redirects: ${way.join(' ')}`);
      page = await this.#send(new URL(page.headers.location, page.url).href, 'GET', { ...NAVIGATION, ...headers });
    }
    return { ...page, way };
  }

  /** Sends the first form of a page. */
  submit(page: Page, values: Record<string, string>, options: PageOptions = {}): Promise<Page> {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.body)?.[1];
    if (action === undefined) throw new Error(`there is no form in ${page.status} ${page.url}:\n${page.body}`);
    const hidden = [...page.body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const form = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...values };
    return this.open(new URL(action, page.url).href, { ...options, method: 'POST', form });
  }

  /** The value of a cookie that the browser has for a host. */
  cookie(host: string, name: string): string | undefined {
    return this.cookies.get(host)?.get(name);
  }

  /** A browser with the same cookies. */
  copy(): Browser {
    const other = new Browser(this.listener, this.#https);
    for (const [host, cookies] of this.cookies) other.cookies.set(host, new Map(cookies));
    return other;
  }

  /** Gives a host the cookies of another one, as those of a domain are. */
  share(from: string, to: string): void {
    this.cookies.set(to, new Map(this.cookies.get(from)));
  }

  /** The `Cookie` header for a host. */
  header(host: string, path = '/'): string {
    const below = [...this.#ofPaths].filter(([place]) => `${host}${path}`.startsWith(place));
    const sent = [...below.flatMap(([, cookies]) => [...cookies]), ...(this.cookies.get(host) ?? [])];
    return sent.map(([name, value]) => `${name}=${value}`).join('; ');
  }

  #send(
    url: string,
    method: string,
    headers: Record<string, string | undefined>,
    form?: Record<string, string>,
  ): Promise<Page> {
    const { protocol, host, hostname, port, pathname, search } = new URL(url);
    const isTls = protocol === 'https:';
    const listener = isTls ? this.#https.listener : this.listener;
    const [address, listenerPort] = hostname.endsWith('.localhost') ? listener.split(':') : [hostname, port];
    const request = isTls ? overHttps : overHttp;
    const tls = isTls ? { servername: hostname, ca: this.#https.ca } : {};
    const payload = form && new URLSearchParams(form).toString();
    const cookie = this.header(hostname, pathname);
    const fields = {
      host,
      ...(cookie === '' ? {} : { cookie }),
      ...(payload && { 'content-type': 'application/x-www-form-urlencoded', 'content-length': `${payload.length}` }),
      ...Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
    };
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: address, port: listenerPort, method, path: pathname + search, headers: fields, agent: false, ...tls },
        async (response) => {
          try {
            this.#keep(hostname, response.headers['set-cookie'] ?? []);
            const chunks: Buffer[] = [];
            for await (const chunk of response) chunks.push(chunk as Buffer);
            const body = Buffer.concat(chunks).toString();
            resolve({ url, status: response.statusCode ?? 0, headers: response.headers, body, way: [] });
          } catch (error) {
            reject(error);
          }
        },
      );
      sent.on('error', reject);
      sent.end(payload);
    });
  }

  #keep(host: string, lines: string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(/; */);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const path = attributes.find((text) => /^path=/i.test(text))?.slice('path='.length) ?? '/';
      const [jars, place] = path === '/' ? [this.cookies, host] : [this.#ofPaths, host + path];
      const jar = jars.get(place) ?? new Map<string, string>();
      jars.set(place, jar);
      const isOver = attributes.some((text) => /^max-age=0$/i.test(text) || /^expires=Thu, 01 Jan 1970/i.test(text));
      if (isOver) jar.delete(name);
      else jar.set(name, value);
    }
  }
}
