// Which route of an HTTPS edge a request takes.

import { isAmbiguousPath, lenientPath, normalizePath, pathOfTarget } from '../../http/path.ts';
import type { HttpRoute } from '../pipeline/rules/endpoint-rules.ts';
import type { RouteConfig } from './edge-config.ts';

export interface Routed<T extends HttpRoute> extends Pick<RouteConfig, 'matchType' | 'match'> {
  route: T;
}

/**
 * The routes of one edge: those for the very path before those for its beginning, of these the longest first. Of two spellings of
 * the same match the first counts.
 */
export class Routing<T extends HttpRoute> {
  readonly #exact = new Map<string, T>();
  readonly #prefixes: [prefix: string, route: T][] = [];
  /** Whether all paths have the same route. */
  readonly #isOne: boolean;

  constructor(routes: readonly Routed<T>[]) {
    for (const { matchType, match, route } of routes) {
      const sent = asSent(match);
      const path = matchType === 'exact_path' ? normalizePath(sent) : normalBeginning(sent);
      if (matchType === 'path_prefix') this.#prefixes.push([path, route]);
      else if (!this.#exact.has(path)) this.#exact.set(path, route);
    }
    this.#prefixes.sort(([a], [b]) => b.length - a.length);
    this.#isOne = this.#exact.size === 0 && this.#prefixes.every(([prefix]) => prefix === '/');
  }

  /**
   * @param target of the request, in origin-form. Its path is compared as rules see it: another spelling of `/admin` must not
   * lead to a route that asks for less. The upstream gets it as it came.
   * @returns undefined without a route; `ambiguousPath` where the upstream may read a path that has another route.
   */
  find(target: string): T | 'ambiguousPath' | undefined {
    const path = pathOfTarget(target);
    const normal = normalizePath(path);
    const route = this.#at(normal);
    if (!route || this.#isOne || !isAmbiguousPath(path)) return route;
    const loose = lenientPath(path);
    // A route for the very path means the path as it is.
    const isMeant = loose !== undefined && (this.#exact.has(normal) || this.#at(loose) === route);
    return isMeant ? route : 'ambiguousPath';
  }

  #at(path: string): T | undefined {
    return this.#exact.get(path) ?? this.#prefixes.find(([prefix]) => path.startsWith(prefix))?.[1];
  }
}

/** The same for the beginning of a path: its last segment may go on, and `/.` is no whole one that could be resolved. */
function normalBeginning(prefix: string): string {
  return normalizePath(`${prefix}x`).slice(0, -1);
}

/** A path as clients send it: what is not ASCII has its percent-encoding in UTF-8 (RFC 3987, section 3.1). */
function asSent(match: string): string {
  return match.replace(/[^\0-\x7f]+/gu, encodeURIComponent);
}
