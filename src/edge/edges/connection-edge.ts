// What a TLS or TCP edge does: each connection passes its modules, and goes whole to one of its tunnels.

import type { ConnectionModule, TlsParameters } from '../../http/module.ts';
import { createModules } from '../http-modules.ts';
import type { EndpointRules } from '../pipeline/rules/endpoint-rules.ts';
import type { ConnectionEdgeConfig } from './edge-config.ts';
import { type EdgeRuntimeDeps, reasonOf } from './edge-runtime-deps.ts';
import { tlsParametersOf } from './tls-parameters.ts';

export class ConnectionEdgeRuntime implements EndpointRules {
  readonly connection: readonly ConnectionModule[];
  readonly tls: TlsParameters | undefined;
  readonly isBroken: boolean = false;
  readonly servedOnlyBy: readonly string[];

  constructor(config: ConnectionEdgeConfig, { environment, descriptors, onBroken }: EdgeRuntimeDeps) {
    const { accountId, kind: proto } = config;
    try {
      if (config.failure !== undefined) throw new Error(config.failure);
      const { connection, tls } = createModules(descriptors, config.modules, { accountId, proto }, environment);
      this.tls = proto === 'tls' ? tlsParametersOf(proto, tls) : undefined;
      this.connection = connection;
      this.servedOnlyBy = connection.flatMap(({ servedOnlyBy = [] }) => servedOnlyBy);
    } catch (error) {
      onBroken(config.id, error);
      this.isBroken = true;
      this.servedOnlyBy = [];
      this.connection = [{ name: 'edge', onConnection: () => ({ kind: 'close', reason: reasonOf(error) }) }];
    }
  }

  /** There are no requests. */
  route(): 'noRoute' {
    return 'noRoute';
  }
}
