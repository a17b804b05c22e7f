// How the service of a route or a tunnel is asked: for how long, by which name, and for visitors who end their side first.

import type { ServiceHost } from '../../http/exchange.ts';
import { readServiceHost, SERVICE_HOST_FORMS } from '../../http/host-rewrite.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface UpstreamSettings extends ModuleSettings {
  /** Seconds until the response has to begin, 1 to 3600; null: as everywhere. */
  timeout: number | null;
  /** What `readServiceHost` takes; null: the service is asked by the name of the endpoint. */
  hostHeader: string | null;
  /** Whether a visitor who has ended his side still gets the response. */
  allowHalfClose: boolean;
  /** Who has said so, as a 504 names it: an agent for its tunnel, or, where it is left out, whoever owns the route. */
  isOfAgent?: boolean;
}

const TIMEOUT_MAX = 3600;

export const upstreamModule: ModuleDescriptor<UpstreamSettings> = {
  key: 'upstream',
  phase: 'upstream',
  create({ timeout, hostHeader, allowHalfClose, isOfAgent }) {
    const host = hostHeader === null ? undefined : requireHost('hostHeader', hostHeader);
    const answerTimeout =
      timeout === null ? undefined : { ms: timeout * 1000, setBy: isOfAgent ? 'its agent' : 'its route' };
    return {
      http: {
        name: 'upstream',
        onRequest({ upstreamTerms: terms }) {
          if (!terms) return undefined;
          // A policy has passed before, and knows the request.
          if (host) terms.host ??= host;
          if (answerTimeout) terms.answerTimeout ??= answerTimeout;
          if (allowHalfClose) terms.allowsHalfClose = true;
          return undefined;
        },
      },
    };
  },
  bindOption: {
    names: ['UpstreamTimeout', 'HostHeader'],
    scope: 'http',
    read(options) {
      const timeout = options.has('UpstreamTimeout') ? options.number('UpstreamTimeout') : null;
      const hostHeader = options.has('HostHeader') ? options.text('HostHeader') : null;
      const reason = timeout === null ? undefined : timeoutProblem(timeout);
      if (reason !== undefined) throw new SettingsError(`UpstreamTimeout ${reason}`);
      if (hostHeader !== null) requireHost('HostHeader', hostHeader);
      return { enabled: true, timeout, hostHeader, allowHalfClose: false, isOfAgent: true };
    },
  },
};

/** @returns what is wrong with a time-out in seconds, to be read after its name; undefined: nothing. */
export function timeoutProblem(seconds: number): string | undefined {
  return seconds >= 1 && seconds <= TIMEOUT_MAX ? undefined : `must be from 1 to ${TIMEOUT_MAX} seconds`;
}

/** @returns what is wrong with the name of a service, to be read after its name; undefined: nothing. */
export function hostHeaderProblem(text: string): string | undefined {
  return readServiceHost(text) ? undefined : SERVICE_HOST_FORMS;
}

/** @throws {SettingsError} */
function requireHost(name: string, text: string): ServiceHost {
  const host = readServiceHost(text);
  if (host) return host;
  throw new SettingsError(`${name} ${SERVICE_HOST_FORMS}`);
}
