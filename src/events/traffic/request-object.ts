// The object of `http_request_complete.v0`.

import type { RequestReport } from '../../edge/reports/traffic-reports.ts';
import type { RequestFieldName } from './fields.ts';
import {
  booleanField,
  headersField,
  integerField,
  type ObjectShape,
  plainStringField,
  policyLogsField,
  type ReportField,
  stringField,
  timestampField,
} from './report-fields.ts';

const fields: Record<RequestFieldName, ReportField<RequestReport>> = {
  'backend.connection_reused': booleanField((report) => report.isConnectionReused),
  'compression.algorithm': stringField(({ decisions }) => decisions.compression?.algorithm),
  'compression.bytes_saved': integerField(({ decisions }) => decisions.compression?.bytesSaved),
  'conn.client_ip': stringField(({ connection }) => connection.clientIp),
  'conn.server_ip': stringField(({ connection }) => connection.serverIp),
  'conn.server_name': stringField(({ connection }) => connection.serverName),
  'conn.server_port': integerField(({ connection }) => connection.serverPort),
  'conn.start_ts': timestampField(({ connection }) => connection.startedAt),
  'http.request.method': stringField(({ request }) => request.method),
  'http.request.version': plainStringField(({ request }) => request.version),
  'http.request.url.scheme': plainStringField(({ request }) => request.scheme),
  'http.request.url.host': stringField(({ request }) => request.host),
  'http.request.url.path': stringField(({ request }) => pathOfTarget(request.target)),
  'http.request.url.query': stringField(({ request }) => queryOf(request.target)),
  'http.request.url.raw': stringField(({ request }) => urlOf(request)),
  'http.request.user_agent': stringField(({ request }) => firstOf(request.fields, 'user-agent')),
  'http.request.headers': headersField(({ request }) => request.fields),
  'http.request.body_length': integerField(({ request }) => request.bodyLength),
  'http.request.first_byte_ts': timestampField(({ request }) => request.firstByteAt),
  'http.request.last_byte_ts': timestampField(({ request }) => request.lastByteAt),
  'http.response.status_code': integerField(({ response }) => response?.status),
  'http.response.headers': headersField(({ response }) => response?.fields),
  'http.response.body_length': integerField(({ response }) => response?.bodyLength),
  'http.response.first_byte_ts': timestampField(({ response }) => response?.firstByteAt),
  'http.response.last_byte_ts': timestampField(({ response }) => response?.lastByteAt),
  'tls.version': stringField(({ tls }) => tls?.version),
  'tls.cipher_suite': stringField(({ tls }) => tls?.cipherSuite),
  'tls.client_cert.serial_number': stringField(({ tls }) => tls?.clientCertificate?.serialNumber),
  'tls.client_cert.subject.cn': stringField(({ tls }) => tls?.clientCertificate?.commonName),
  'traffic_policy.logs': policyLogsField(({ decisions }) => decisions.policyLogs),
};

export const requestObject: ObjectShape<RequestReport> = {
  fields,
  nullable: {
    compression: ({ decisions }) => decisions.compression !== undefined,
    'http.response': ({ response }) => response !== undefined,
    tls: ({ tls }) => tls !== undefined,
    'tls.client_cert': ({ tls }) => tls?.clientCertificate !== undefined,
    traffic_policy: ({ decisions }) => decisions.policyLogs !== undefined,
  },
};

type Request = RequestReport['request'];

function pathOfTarget(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}

/** The URL as the visitor requested it. */
function urlOf({ scheme, host, target }: Request): string {
  return `${scheme}://${host}${target === '*' ? '' : target}`;
}

/** @param name in lower case. */
function firstOf(fields: Request['fields'], name: string): string {
  for (const field of fields) if (field[0].length === name.length && field[0].toLowerCase() === name) return field[1];
  return '';
}
