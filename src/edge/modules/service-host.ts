// By which name the service of a tunnel is asked, as its agent has it.

import type { ServiceOrigin } from '../../http/exchange.ts';
import { readServiceOrigin } from '../../http/host-rewrite.ts';
import type { ModuleDescriptor, ModuleSettings } from './descriptor.ts';
import { SettingsError } from './settings-error.ts';

export interface ServiceHostSettings extends ModuleSettings {
  origin: ServiceOrigin;
}

export const serviceHost: ModuleDescriptor<ServiceHostSettings> = {
  key: 'serviceHost',
  phase: 'upstream',
  create: ({ origin }) => ({
    http: {
      name: 'host_header',
      onRequest({ upstreamTerms }) {
        // A policy has passed before, and knows the request.
        if (upstreamTerms) upstreamTerms.host ??= origin;
        return undefined;
      },
    },
  }),
  bindOption: {
    names: ['HostHeader'],
    scope: 'http',
    read(options, name) {
      const origin = readServiceOrigin(options.text(name));
      if (origin) return { enabled: true, origin };
      throw new SettingsError('HostHeader must be a host, as localhost:3000, or an origin, as https://printer.lan');
    },
  },
};
