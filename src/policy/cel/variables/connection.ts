// The variables of all phases: the connection, the endpoint, the time, and the results of earlier actions.

import { FOREIGN_NAMESPACE } from '../../../tunnel/control/compatibility.ts';
import { SECRETS_VARIABLE } from '../secret-names.ts';
import {
  BY_NAME,
  type CelVariables,
  intVariable,
  TEXTS_BY_NAMES,
  textVariable,
  timestampVariable,
  typedVariable,
} from './variable.ts';

export const connectionVariables: CelVariables = {
  'conn.client_ip': textVariable(({ connection }) => connection.visitor.ip),
  'conn.client_port': intVariable(({ connection }) => connection.visitor.port),
  'conn.server_ip': textVariable(({ connection }) => connection.visitor.local.ip),
  'conn.server_port': intVariable(({ connection }) => connection.visitor.local.port),
  'conn.bytes_in': intVariable(({ connection }) => connection.bytesIn),
  'conn.bytes_out': intVariable(({ connection }) => connection.bytesOut),
  'conn.ts.start': timestampVariable(({ connection }) => connection.startedAt),

  'endpoint.id': textVariable(({ connection }) => connection.endpoint.id),
  'endpoint.url': textVariable(({ connection }) => connection.endpoint.publicUrl),
  'endpoint.host': textVariable(({ connection }) => connection.endpoint.hostname),
  'endpoint.port': intVariable(({ connection }) => connection.endpoint.port),
  'endpoint.addr': textVariable(({ connection }) => `${connection.endpoint.hostname}:${connection.endpoint.port}`),
  'endpoint.protocol': textVariable(({ connection }) => connection.endpoint.proto),

  // This is a text, as existing policies use `timestamp(time.now)`.
  'time.now': textVariable(({ environment }) => new Date(environment.time()).toISOString()),

  [SECRETS_VARIABLE]: typedVariable(TEXTS_BY_NAMES, ({ connection, environment }) =>
    environment.secrets.of(connection.endpoint.accountId),
  ),

  vars: typedVariable(BY_NAME, ({ state }) => state.vars),
  actions: typedVariable(BY_NAME, ({ state }) => state.actions),
  [`actions.${FOREIGN_NAMESPACE}`]: typedVariable(BY_NAME, ({ state }) => state.actions),

  // The older names of variables follow.
  'conn.ClientIP': textVariable(({ connection }) => connection.visitor.ip),
  'conn.start_ts': timestampVariable(({ connection }) => connection.startedAt),
};
