// The URL of a request, as a whole and in its parts.

import { type CelMap, celMap } from '@bufbuild/cel';
import type { HttpRequest } from '../../../http/exchange.ts';
import { normalizePath } from '../../../http/path.ts';

/** The variables that contain the path of a request. */
export const PATH_VARIABLES: readonly string[] = [
  'req.url',
  'req.url.path',
  'req.url.raw_path',
  'req.url.uri',
  'req.url.raw',
  'req.URL',
  'req.Path',
];

const DEFAULT_PORTS = { http: 80, https: 443 };
const AUTHORITY = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/;

/**
 * The URL of a request. Its parts are computed at their first use.
 *
 * Normalized parts (RFC 3986, section 6.2.2) are the host, in lower case and without the default port, and the path, by
 * `normalizePath`, so that another spelling does not bypass a rule.
 */
export class RequestUrl {
  readonly scheme: 'http' | 'https';
  /** The path as sent, without the query. */
  readonly rawPath: string;
  /** The query without `?`; empty when there is none. */
  readonly query: string;
  readonly #rawHost: string;
  readonly #target: string;
  #path: string | undefined;
  #origin: { host: string; port: number; authority: string } | undefined;
  #params: CelMap | undefined;

  constructor({ scheme, host, target }: Pick<HttpRequest, 'scheme' | 'host' | 'target'>) {
    const mark = target.indexOf('?');
    this.scheme = scheme;
    this.rawPath = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.#rawHost = host;
    this.#target = target;
  }

  isOf({ scheme, host, target }: Pick<HttpRequest, 'scheme' | 'host' | 'target'>): boolean {
    return this.#target === target && this.#rawHost === host && this.scheme === scheme;
  }

  /** The whole URL, normalized like all parts that are not called raw. */
  get whole(): string {
    return `${this.scheme}://${this.authority}${this.path === '*' ? '' : this.uri}`;
  }

  /** The whole URL as sent. */
  get raw(): string {
    return `${this.scheme}://${this.#rawHost}${this.#target === '*' ? '' : this.#target}`;
  }

  get path(): string {
    this.#path ??= normalizePath(this.rawPath);
    return this.#path;
  }

  /** The path and the query. */
  get uri(): string {
    return this.query === '' ? this.path : `${this.path}?${this.query}`;
  }

  get authority(): string {
    return this.#whereTo.authority;
  }

  /** The host without port and brackets. */
  get host(): string {
    return this.#whereTo.host;
  }

  /** The port; the default of the scheme when the URL has none. */
  get port(): number {
    return this.#whereTo.port;
  }

  /** The query parameters: lists of decoded values by decoded name. */
  get params(): CelMap {
    this.#params ??= celMap(queryParams(this.query));
    return this.#params;
  }

  get #whereTo() {
    this.#origin ??= originOf(this.scheme, this.#rawHost);
    return this.#origin;
  }
}

let last = new RequestUrl({ scheme: 'https', host: '', target: '/' });

/** The URL of the current request. The last one is cached, as several rules use the same. */
export function requestUrlOf(request: HttpRequest): RequestUrl {
  if (!last.isOf(request)) last = new RequestUrl(request);
  return last;
}

function originOf(scheme: 'http' | 'https', rawHost: string) {
  const [, name = rawHost, port] = AUTHORITY.exec(rawHost) ?? [];
  const lower = name.toLowerCase();
  const host = lower.startsWith('[') ? lower.slice(1, -1) : lower;
  const standard = DEFAULT_PORTS[scheme];
  const number = port === undefined ? standard : Number(port);
  return { host, port: number, authority: number === standard ? lower : `${lower}:${number}` };
}

function queryParams(query: string): Map<string, string[]> {
  const params = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const known = params.get(name);
    if (known) known.push(value);
    else params.set(name, [value]);
  }
  return params;
}
