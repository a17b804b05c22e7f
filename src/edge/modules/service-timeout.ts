// How long the service of a tunnel may take until its answer begins, as its agent has it.

import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface ServiceTimeoutSettings extends ModuleSettings {
  /** Seconds, 1 to 3600. */
  timeout: number;
}

const TIMEOUT_MAX = 3600;

export const serviceTimeout: ModuleDescriptor<ServiceTimeoutSettings> = {
  key: 'serviceTimeout',
  phase: 'upstream',
  create: ({ timeout }) => ({
    http: {
      name: 'upstream_timeout',
      onRequest({ upstreamTerms }) {
        // A policy has passed before, and knows the request.
        if (upstreamTerms) upstreamTerms.answerTimeout ??= { ms: timeout * 1000, setBy: 'its agent' };
        return undefined;
      },
    },
  }),
  bindOption: {
    names: ['UpstreamTimeout'],
    scope: 'http',
    read(options, name) {
      const timeout = options.number(name);
      if (timeout >= 1 && timeout <= TIMEOUT_MAX) return { enabled: true, timeout };
      throw new SettingsError(`UpstreamTimeout must be from 1 to ${TIMEOUT_MAX} seconds`);
    },
  },
};
