// The object of `tcp_connection_closed.v0`.

import type { ConnectionReport } from '../../edge/reports/traffic-reports.ts';
import type { ConnectionFieldName } from './fields.ts';
import { integer, list, type Member, moment, type ObjectShape, plainText, text } from './members.ts';

const members: Record<ConnectionFieldName, Member<ConnectionReport>> = {
  'conn.bytes_in': integer(({ connection }) => connection.bytesIn),
  'conn.bytes_out': integer(({ connection }) => connection.bytesOut),
  'conn.client_ip': text(({ connection }) => connection.clientIp),
  'conn.end_ts': moment(({ connection }) => connection.endedAt),
  'conn.server_ip': text(({ connection }) => connection.serverIp),
  'conn.server_name': text(({ connection }) => connection.serverName),
  'conn.server_port': integer(({ connection }) => connection.serverPort),
  'conn.start_ts': moment(({ connection }) => connection.startedAt),
  'ip_policy.decision': plainText(({ decisions }) => decisions.ipPolicy),
  'traffic_policy.logs': list(({ decisions }) => decisions.policyLogs),
};

export const connectionObject: ObjectShape<ConnectionReport> = {
  members,
  nullable: {
    ip_policy: ({ decisions }) => decisions.ipPolicy !== undefined,
    traffic_policy: ({ decisions }) => decisions.policyLogs !== undefined,
  },
};
