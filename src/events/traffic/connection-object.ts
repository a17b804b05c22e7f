// The object of `tcp_connection_closed.v0`.

import type { ConnectionReport } from '../../edge/reports/traffic-reports.ts';
import type { ConnectionFieldName } from './fields.ts';
import {
  integerField,
  listField,
  type ObjectShape,
  plainTextField,
  type ReportField,
  textField,
  timestampField,
} from './report-fields.ts';

const fields: Record<ConnectionFieldName, ReportField<ConnectionReport>> = {
  'conn.bytes_in': integerField(({ connection }) => connection.bytesIn),
  'conn.bytes_out': integerField(({ connection }) => connection.bytesOut),
  'conn.client_ip': textField(({ connection }) => connection.clientIp),
  'conn.end_ts': timestampField(({ connection }) => connection.endedAt),
  'conn.server_ip': textField(({ connection }) => connection.serverIp),
  'conn.server_name': textField(({ connection }) => connection.serverName),
  'conn.server_port': integerField(({ connection }) => connection.serverPort),
  'conn.start_ts': timestampField(({ connection }) => connection.startedAt),
  'ip_policy.decision': plainTextField(({ decisions }) => decisions.ipPolicy),
  'traffic_policy.logs': listField(({ decisions }) => decisions.policyLogs),
};

export const connectionObject: ObjectShape<ConnectionReport> = {
  fields,
  nullable: {
    ip_policy: ({ decisions }) => decisions.ipPolicy !== undefined,
    traffic_policy: ({ decisions }) => decisions.policyLogs !== undefined,
  },
};
