// What a TLS edge does: each connection passes its modules, and goes whole to one of its tunnels.

import type { EndpointHandling } from '../handling.ts';
import { connectionModules } from '../http-modules.ts';
import type { ConnectionModule, TlsTerms } from '../module.ts';
import { reasonOf, type SiteParts } from './site.ts';
import type { TlsEdgeConfig } from './source.ts';
import { termsOf } from './tls-terms.ts';

export class TlsSite implements EndpointHandling {
  readonly connection: readonly ConnectionModule[];
  readonly tls: TlsTerms | undefined;

  constructor(config: TlsEdgeConfig, { environment, onBroken }: SiteParts) {
    try {
      if (config.failure !== undefined) throw new Error(config.failure);
      this.tls = termsOf(config);
      this.connection = connectionModules(config.modules, { accountId: config.accountId, proto: 'tls' }, environment);
    } catch (error) {
      onBroken(config.id, error);
      this.connection = [{ name: 'edge', onConnection: () => ({ kind: 'close', reason: reasonOf(error) }) }];
    }
  }

  /** There are no requests. */
  route(): 'noRoute' {
    return 'noRoute';
  }
}
