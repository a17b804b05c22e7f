// What a TLS edge does: each connection passes its modules, and goes whole to one of its tunnels.

import type { ConnectionModule, TlsParameters } from '../../http/module.ts';
import { createModules } from '../http-modules.ts';
import type { EndpointRules } from '../pipeline/endpoint-rules.ts';
import type { TlsEdgeConfig } from './edge-config.ts';
import { type EdgeRuntimeDeps, reasonOf } from './edge-runtime-deps.ts';
import { termsOf } from './tls-terms.ts';

export class TlsEdgeRuntime implements EndpointRules {
  readonly connection: readonly ConnectionModule[];
  readonly tls: TlsParameters | undefined;

  constructor(config: TlsEdgeConfig, { environment, descriptors, onBroken }: EdgeRuntimeDeps) {
    try {
      if (config.failure !== undefined) throw new Error(config.failure);
      this.tls = termsOf(config);
      const owner = { accountId: config.accountId, proto: 'tls' } as const;
      this.connection = createModules(descriptors, config.modules, owner, environment).connection;
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
