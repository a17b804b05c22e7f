// The object of `tcp_connection_closed.v0`.

import type { ConnectionReport } from '../../edge/reports/traffic-reports.ts';
import type { ConnectionFieldName } from './fields.ts';
import {
  integerField,
  type ObjectShape,
  policyLogsField,
  type ReportField,
  stringField,
  timestampField,
} from './report-fields.ts';

const fields: Record<ConnectionFieldName, ReportField<ConnectionReport>> = {
  'conn.bytes_in': integerField(({ connection }) => connection.bytesIn),
  'conn.bytes_out': integerField(({ connection }) => connection.bytesOut),
  'conn.client_ip': stringField(({ connection }) => connection.clientIp),
  'conn.end_ts': timestampField(({ connection }) => connection.endedAt),
  'conn.server_ip': stringField(({ connection }) => connection.serverIp),
  'conn.server_name': stringField(({ connection }) => connection.serverName),
  'conn.server_port': integerField(({ connection }) => connection.serverPort),
  'conn.start_ts': timestampField(({ connection }) => connection.startedAt),
  'traffic_policy.logs': policyLogsField(({ decisions }) => decisions.policyLogs),
};

export const connectionObject: ObjectShape<ConnectionReport> = {
  fields,
  nullable: {
    traffic_policy: ({ decisions }) => decisions.policyLogs !== undefined,
  },
};
