// Header fields that are taken out of requests or answers, and added to them.

import type { HeaderList } from '../../http/header-list.ts';
import { isFieldValue, isFramingField, isHttpToken, utf8FieldValue } from '../../http/header-list.ts';
import type { HttpModule } from '../../http/module.ts';
import type { BindOption, ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface HeaderSettings extends ModuleSettings {
  /** Values by name; each is added as a line of its own, after what `remove` names is gone. */
  add: Record<string, string>;
  remove: string[];
}

export const requestHeadersModule: ModuleDescriptor<HeaderSettings> = {
  key: 'requestHeaders',
  phase: 'request fields',
  create: (settings) => ({ http: requestHeaders(settings) }),
  bindOption: headersOption('RequestHeaders'),
};

export const responseHeadersModule: ModuleDescriptor<HeaderSettings> = {
  key: 'responseHeaders',
  phase: 'response fields',
  create: (settings) => ({ http: responseHeaders(settings) }),
  bindOption: headersOption('ResponseHeaders'),
};

/** Agents write what is added as lines: `x-site: berlin`. */
function headersOption(name: string): BindOption<HeaderSettings> {
  return {
    names: [name],
    scope: 'http',
    read(options) {
      const headers = options.fields(name);
      const add = headers.texts('add').map((line): [string, string] => {
        const colon = line.indexOf(':');
        return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      });
      return { enabled: true, add: Object.fromEntries(add), remove: headers.texts('remove') };
    },
  };
}

const problems = {
  name: 'must be the name of a header field, as "x-device"',
  framing: 'is set by the gateway itself, and cannot be changed',
  value: 'must have a value of one line, without control characters',
};

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
  for (const name of [...remove, ...Object.keys(add)]) refuse(name, nameProblem(name));
  for (const [name, value] of added) refuse(name, isFieldValue(value) ? undefined : problems.value);
  const lines = added.flatMap(([name, value]) =>
    apart.includes(name) ? [] : [[name, utf8FieldValue(value)] as const],
  );
  return (fields) => {
    for (const name of remove) fields.remove(name);
    for (const [name, value] of lines) fields.add(name, value);
  };
}

function nameProblem(name: string): string | undefined {
  if (!isHttpToken(name)) return problems.name;
  return isFramingField(name) ? problems.framing : undefined;
}

function refuse(name: string, problem: string | undefined): void {
  if (problem) throw new SettingsError(`${name} ${problem}`);
}
