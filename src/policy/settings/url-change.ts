// Replaces parts of a request's URL, for the actions `redirect` and `url-rewrite`.

import type { HttpExchange, HttpRequest } from '../../http/exchange.ts';
import { normalizePath, pathOfTarget } from '../../http/path.ts';
import { compilePattern, type Pattern, RegexError } from '../cel/regex.ts';
import type { Template } from '../cel/template.ts';
import type { Bindings } from '../cel/vocabulary.ts';
import type { ConfigReader } from './action-kind.ts';
import { PROBLEM } from './problems.ts';

const TEXT_MAX = 8192;
/** The nginx-style variables that older policies have in their replacements. */
const VARIABLES = /\$(args|authority|query_string|is_args|uri|arg_[A-Za-z0-9_]+|scheme|host|port|is_user|user)\b/g;

/** The result of a change. */
export interface ChangedUrl {
  /** The first match and its groups; the whole URL when there is no pattern. */
  matches: string[];
  /** The new absolute URL; undefined when nothing matched, or the URL stays the same. */
  url: string | undefined;
}

/** Computes the new URL of a request. @returns the result; or the reason, as a text, why it cannot be computed. */
export type UrlChange = (exchange: HttpExchange, bindings: Bindings) => ChangedUrl | string;

/** Reads `from`, a regular expression that is searched in the URL, and `to`, its replacement. */
export function compileUrlChange(config: ConfigReader): UrlChange {
  const from = config.has('from') ? config.template('from', { max: TEXT_MAX }) : undefined;
  const to = config.template('to', { max: TEXT_MAX });
  if (!from && to.constant && !isResolvable(to.constant)) config.problem('to', PROBLEM.url, 'must be a URL, or a path');
  const isForHost = to.text.startsWith('//');
  const hasVariables = to.text.search(VARIABLES) >= 0;
  const constant = from?.constant === undefined ? undefined : constantPattern(config, from.constant);
  return ({ request }, bindings) => {
    const before = urlAsSent({ scheme: request.scheme, host: request.host, target: normalTarget(request.target) });
    const replacement = () => (hasVariables ? expandVariables(to.evaluate(bindings), request) : to.evaluate(bindings));
    if (!from) return resolveChange(before, isForHost ? replacement() : keepHost(replacement()), [before]);
    const pattern = constant ?? computedPattern(from, bindings);
    if (typeof pattern === 'string') return pattern;
    const found = pattern.find(before);
    if (!found) return { matches: [], url: undefined };
    const matches = found.map((part) => part ?? '');
    // After a match of the whole URL, a pattern like `.*` would match the empty end once more.
    const replace = matches[0] === before ? 'replaceFirst' : 'replaceAll';
    try {
      const after = pattern[replace](before, replacement());
      return resolveChange(before, isForHost ? after : keepHost(after), matches);
    } catch (error) {
      return reasonOf(error);
    }
  };
}

/** The URL of a request, as the visitor sent it. */
export function urlAsSent({ scheme, host, target }: Pick<HttpRequest, 'scheme' | 'host' | 'target'>): string {
  return `${scheme}://${host}${target.startsWith('/') ? target : ''}`;
}

/** The target with a normalized path, so that another spelling of it does not bypass a pattern. */
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

/** Resolves the new URL. @param after the new URL, which may be relative to the old one. */
function resolveChange(before: string, after: string, matches: string[]): ChangedUrl | string {
  if (after === before) return { matches, url: undefined };
  if (!URL.canParse(after, before)) return 'what comes out is not a URL';
  const isFull = /^[a-z][a-z0-9+.-]*:\/\//i.test(after);
  const url = isFull ? after : new URL(after, before).href;
  return { matches, url: url === before ? undefined : url };
}

/**
 * Keeps a path that visitors can influence from becoming another host, as `//example.com` does (open redirect). URL parsers
 * remove tabs and line breaks, and treat a backslash as a slash.
 */
const keepHost = (text: string) => text.replace(/[\t\r\n]/g, '').replace(/^[/\\]{2,}/, '/');

function isResolvable(text: string): boolean {
  return URL.canParse(text, 'https://example.com/');
}

/** Expands the variables of a replacement. A `$` in their values must not be taken for a group reference. */
function expandVariables(replacement: string, request: HttpRequest): string {
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
  return replacement.replace(VARIABLES, (_, part: string) => {
    const value = part.startsWith('arg_') ? (new URLSearchParams(query).get(part.slice(4)) ?? '') : parts[part];
    return (part.startsWith('arg_') ? encodeURIComponent(value ?? '') : (value ?? '')).replaceAll('$', '%24');
  });
}
