// A request's URL with a part of it replaced, as `redirect` and `url-rewrite` do it.

import type { HttpExchange, HttpRequest } from '../../http/exchange.ts';
import { normalizePath, pathOfTarget } from '../../http/path.ts';
import { compilePattern, type Pattern, RegexError } from '../cel/regex.ts';
import type { Template } from '../cel/template.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ConfigReader } from './action-kind.ts';
import { PROBLEM } from './problems.ts';

const TEXT_MAX = 8192;
/** Names of parts of the request that older policies have in their replacements. */
const NAMED = /\$(args|authority|query_string|is_args|uri|arg_[A-Za-z0-9_]+|scheme|host|port|is_user|user)\b/g;

export interface ChangedUrl {
  /** What was found first, and what its groups took; the whole URL where everything is replaced. */
  matches: string[];
  /** The new URL, in full; undefined when nothing was found, or it is the same. */
  url: string | undefined;
}

/** Says what the URL is to be for a visit. @returns a text where it cannot be said: why. */
export type UrlChange = (exchange: HttpExchange, bindings: Bindings) => ChangedUrl | string;

/** Reads `from`, a regular expression that is found anywhere in the URL, and `to`, what replaces it. */
export function compileUrlChange(config: ConfigReader): UrlChange {
  const from = config.has('from') ? config.template('from', { max: TEXT_MAX }) : undefined;
  const to = config.template('to', { max: TEXT_MAX });
  if (!from && to.constant && !isResolvable(to.constant)) config.problem('to', PROBLEM.url, 'must be a URL, or a path');
  const isForHost = to.text.startsWith('//');
  const hasNames = to.text.search(NAMED) >= 0;
  const constant = from?.constant === undefined ? undefined : constantPattern(config, from.constant);
  return ({ request }, bindings) => {
    const before = urlAsSent({ scheme: request.scheme, host: request.host, target: normalTarget(request.target) });
    const replacement = () => (hasNames ? withNames(to.evaluate(bindings), request) : to.evaluate(bindings));
    if (!from) return changed(before, isForHost ? replacement() : onHost(replacement()), [before]);
    const pattern = constant ?? computedPattern(from, bindings);
    if (typeof pattern === 'string') return pattern;
    const found = pattern.find(before);
    if (!found) return { matches: [], url: undefined };
    const matches = found.map((part) => part ?? '');
    // Behind the whole, `.*` would find nothing once more, and replace that too.
    const replace = matches[0] === before ? 'replaceFirst' : 'replaceAll';
    try {
      const after = pattern[replace](before, replacement());
      return changed(before, isForHost ? after : onHost(after), matches);
    } catch (error) {
      return reasonOf(error);
    }
  };
}

/** The URL that a request is for, as it came. */
export function urlAsSent({ scheme, host, target }: Pick<HttpRequest, 'scheme' | 'host' | 'target'>): string {
  return `${scheme}://${host}${target.startsWith('/') ? target : ''}`;
}

/** No other spelling of a path gets round a pattern. */
function normalTarget(target: string): string {
  const path = pathOfTarget(target);
  return normalizePath(path) + target.slice(path.length);
}

function constantPattern(config: ConfigReader, text: string): Pattern | undefined {
  try {
    return compilePattern(text);
  } catch (error) {
    config.problem('from', PROBLEM.regex, reasonOf(error));
    return undefined;
  }
}

function computedPattern(from: Template, bindings: Bindings): Pattern | string {
  try {
    return compilePattern(from.evaluate(bindings));
  } catch (error) {
    return `"from" ${reasonOf(error)}`;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof RegexError)) throw error;
  return error.message;
}

/** @param after which may be relative to the URL that it was made of. */
function changed(before: string, after: string, matches: string[]): ChangedUrl | string {
  if (after === before) return { matches, url: undefined };
  if (!URL.canParse(after, before)) return 'what comes out is not a URL';
  const isFull = /^[a-z][a-z0-9+.-]*:\/\//i.test(after);
  const url = isFull ? after : new URL(after, before).href;
  return { matches, url: url === before ? undefined : url };
}

/**
 * A path that visitors had a hand in must not turn into the name of another host, as `//example.com` does, and what comes to
 * that: URLs are read without tabs and line ends, and a backslash is a slash in them.
 */
const onHost = (text: string) => text.replace(/[\t\r\n]/g, '').replace(/^[/\\]{2,}/, '/');

function isResolvable(text: string): boolean {
  return URL.canParse(text, 'https://example.com/');
}

/** Puts in the named parts of a request. A `$` in them must not be taken for a group. */
function withNames(replacement: string, request: HttpRequest): string {
  const { scheme, host, target } = request;
  const [path = '', ...rest] = target.split('?');
  const query = rest.join('?');
  const [, name = '', port = ''] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  const parts: Record<string, string> = {
    args: query,
    query_string: query,
    is_args: query === '' ? '' : '?',
    uri: path,
    authority: host,
    scheme,
    host: name,
    port: port || (scheme === 'https' ? '443' : '80'),
    user: '',
    is_user: '',
  };
  return replacement.replace(NAMED, (_, part: string) => {
    const value = part.startsWith('arg_') ? (new URLSearchParams(query).get(part.slice(4)) ?? '') : parts[part];
    return (part.startsWith('arg_') ? encodeURIComponent(value ?? '') : (value ?? '')).replaceAll('$', '%24');
  });
}
