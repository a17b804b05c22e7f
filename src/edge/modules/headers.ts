// Header fields that are taken out of requests or answers, and added to them.

import type { HeaderList } from '../header-list.ts';
import type { HttpModule } from '../module.ts';
import type { HeaderSettings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** One line of visible characters and blanks (RFC 9110, section 5.5). What is not ASCII is brought onto the wire by `lineOf`. */
const VALUE = /^[\t\x20-\x7e\u0080-\u{10ffff}]*$/u;
/** They say how a message is framed, or are for one hop only: the gateway's own business. */
const FRAMING: readonly string[] = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** @returns what is wrong with the name of a field that is to be added or removed, to be read behind it. */
export function fieldNameProblem(name: string): string | undefined {
  if (!TOKEN.test(name)) return 'must be the name of a header field, as "x-device"';
  return FRAMING.includes(name.toLowerCase()) ? 'is set by the gateway itself, and cannot be changed' : undefined;
}

/** @returns what is wrong with the value of a field that is to be added, to be read behind its name. */
export function fieldValueProblem(value: string): string | undefined {
  return VALUE.test(value) ? undefined : 'must have a value of one line, without control characters';
}

/**
 * The module `request_headers`. `host` takes the place of the visitor's; it cannot be removed.
 * @throws {SettingsError}
 */
export function requestHeaders(settings: HeaderSettings): HttpModule {
  const hosts = Object.keys(settings.add).filter((name) => name.toLowerCase() === 'host');
  const host = hosts.length > 0 ? settings.add[hosts[0] as string] : undefined;
  const change = changeOf(settings, hosts);
  return {
    name: 'request_headers',
    onRequest({ request }) {
      change(request.fields);
      if (host !== undefined) request.host = host;
      return undefined;
    },
  };
}

/**
 * The module `response_headers`.
 * @throws {SettingsError}
 */
export function responseHeaders(settings: HeaderSettings): HttpModule {
  const change = changeOf(settings, []);
  return {
    name: 'response_headers',
    onResponse({ response }) {
      if (response) change(response.fields);
      return undefined;
    },
  };
}

/** First removes, then adds: what is in both is replaced. @param apart names that somebody else sets. */
function changeOf({ add, remove }: HeaderSettings, apart: readonly string[]): (fields: HeaderList) => void {
  const added = Object.entries(add);
  for (const name of [...remove, ...Object.keys(add)]) refuse(name, fieldNameProblem(name));
  for (const [name, value] of added) refuse(name, fieldValueProblem(value));
  const lines = added.filter(([name]) => !apart.includes(name));
  return (fields) => {
    for (const name of remove) fields.remove(name);
    for (const [name, value] of lines) fields.add(name, value);
  };
}

function refuse(name: string, problem: string | undefined): void {
  if (problem) throw new SettingsError(`${name} ${problem}`);
}
