// What every phase can speak of: the connection, the endpoint, the time, and what the policy itself said before.

import { FOREIGN_NAMESPACE } from '../../../tunnel/control/compatibility.ts';
import { BY_NAME, integer, moment, text, type Variables, value } from './variable.ts';

export const connectionVariables: Variables = {
  'conn.client_ip': text(({ connection }) => connection.visitor.ip),
  'conn.client_port': integer(({ connection }) => connection.visitor.port),
  'conn.server_ip': text(({ connection }) => connection.visitor.local.ip),
  'conn.server_port': integer(({ connection }) => connection.visitor.local.port),
  'conn.bytes_in': integer(({ connection }) => connection.bytesIn),
  'conn.bytes_out': integer(({ connection }) => connection.bytesOut),
  'conn.ts.start': moment(({ connection }) => connection.startedAt),

  'endpoint.id': text(({ connection }) => connection.endpoint.id),
  'endpoint.url': text(({ connection }) => connection.endpoint.publicUrl),
  'endpoint.host': text(({ connection }) => connection.endpoint.hostname),
  'endpoint.port': integer(({ connection }) => connection.endpoint.port),
  'endpoint.addr': text(({ connection }) => `${connection.endpoint.hostname}:${connection.endpoint.port}`),
  'endpoint.protocol': text(({ connection }) => connection.endpoint.proto),

  // A text, as policies expect it: `timestamp(time.now)`.
  'time.now': text(({ environment }) => new Date(environment.time()).toISOString()),

  vars: value(BY_NAME, ({ state }) => state.vars),
  actions: value(BY_NAME, ({ state }) => state.actions),
  [`actions.${FOREIGN_NAMESPACE}`]: value(BY_NAME, ({ state }) => state.actions),

  // Older names.
  'conn.ClientIP': text(({ connection }) => connection.visitor.ip),
  'conn.start_ts': moment(({ connection }) => connection.startedAt),
};
