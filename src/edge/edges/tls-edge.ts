// What a TLS edge does: each connection passes its modules, and goes whole to one of its tunnels.

import type { ConnectionModule, TlsParameters } from '../../http/module.ts';
import { createModules } from '../http-modules.ts';
import type { EndpointRules } from '../pipeline/endpoint-rules.ts';
import type { TlsEdgeConfig } from './edge-config.ts';
import { type EdgeRuntimeDeps, reasonOf } from './edge-runtime-deps.ts';
import { tlsParametersOf } from './tls-parameters.ts';

export class TlsEdgeRuntime implements EndpointRules {
  readonly connection: readonly ConnectionModule[];
  readonly tls: TlsParameters | undefined;

  constructor(config: TlsEdgeConfig, { environment, descriptors, onBroken }: EdgeRuntimeDeps) {
    try {
      if (config.failure !== undefined) throw new Error(config.failure);
      const owner = { accountId: config.accountId, proto: 'tls' } as const;
      const { connection, tls } = createModules(descriptors, config.modules, owner, environment);
      this.tls = tlsParametersOf('tls', tls);
      this.connection = connection;
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
