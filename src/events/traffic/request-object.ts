// The object of `http_request_complete.v0`.

import type { RequestReport } from '../../edge/reports/traffic-reports.ts';
import type { RequestFieldName } from './fields.ts';
import {
  booleanField,
  headersField,
  integerField,
  listField,
  type ObjectShape,
  plainTextField,
  type ReportField,
  textField,
  timestampField,
} from './report-fields.ts';

const fields: Record<RequestFieldName, ReportField<RequestReport>> = {
  'backend.connection_reused': booleanField((report) => report.isConnectionReused),
  'basic_auth.decision': plainTextField(({ decisions }) => decisions.basicAuth?.decision),
  'basic_auth.username': textField(({ decisions }) => decisions.basicAuth?.username),
  'circuit_breaker.decision': plainTextField(({ decisions }) => decisions.circuitBreaker),
  'compression.algorithm': textField(({ decisions }) => decisions.compression?.algorithm),
  'compression.bytes_saved': integerField(({ decisions }) => decisions.compression?.bytesSaved),
  'conn.client_ip': textField(({ connection }) => connection.clientIp),
  'conn.server_ip': textField(({ connection }) => connection.serverIp),
  'conn.server_name': textField(({ connection }) => connection.serverName),
  'conn.server_port': integerField(({ connection }) => connection.serverPort),
  'conn.start_ts': timestampField(({ connection }) => connection.startedAt),
  'http.request.method': textField(({ request }) => request.method),
  'http.request.version': plainTextField(({ request }) => request.version),
  'http.request.url.scheme': plainTextField(({ request }) => request.scheme),
  'http.request.url.host': textField(({ request }) => request.host),
  'http.request.url.path': textField(({ request }) => pathOfTarget(request.target)),
  'http.request.url.query': textField(({ request }) => queryOf(request.target)),
  'http.request.url.raw': textField(({ request }) => urlOf(request)),
  'http.request.user_agent': textField(({ request }) => firstOf(request.fields, 'user-agent')),
  'http.request.headers': headersField(({ request }) => request.fields),
  'http.request.body_length': integerField(({ request }) => request.bodyLength),
  'http.request.first_byte_ts': timestampField(({ request }) => request.firstByteAt),
  'http.request.last_byte_ts': timestampField(({ request }) => request.lastByteAt),
  'http.response.status_code': integerField(({ response }) => response?.status),
  'http.response.headers': headersField(({ response }) => response?.fields),
  'http.response.body_length': integerField(({ response }) => response?.bodyLength),
  'http.response.first_byte_ts': timestampField(({ response }) => response?.firstByteAt),
  'http.response.last_byte_ts': timestampField(({ response }) => response?.lastByteAt),
  'ip_policy.decision': plainTextField(({ decisions }) => decisions.ipPolicy),
  'tls.version': textField(({ tls }) => tls?.version),
  'tls.cipher_suite': textField(({ tls }) => tls?.cipherSuite),
  'tls.client_cert.serial_number': textField(({ tls }) => tls?.clientCertificate?.serialNumber),
  'tls.client_cert.subject.cn': textField(({ tls }) => tls?.clientCertificate?.commonName),
  'traffic_policy.logs': listField(({ decisions }) => decisions.policyLogs),
  'user_agent_filter.decision': plainTextField(({ decisions }) => decisions.userAgentFilter),
  'webhook_verification.decision': plainTextField(({ decisions }) => decisions.webhookVerification),
};

export const requestObject: ObjectShape<RequestReport> = {
  fields,
  nullable: {
    basic_auth: ({ decisions }) => decisions.basicAuth !== undefined,
    circuit_breaker: ({ decisions }) => decisions.circuitBreaker !== undefined,
    compression: ({ decisions }) => decisions.compression !== undefined,
    'http.response': ({ response }) => response !== undefined,
    ip_policy: ({ decisions }) => decisions.ipPolicy !== undefined,
    tls: ({ tls }) => tls !== undefined,
    'tls.client_cert': ({ tls }) => tls?.clientCertificate !== undefined,
    traffic_policy: ({ decisions }) => decisions.policyLogs !== undefined,
    user_agent_filter: ({ decisions }) => decisions.userAgentFilter !== undefined,
    webhook_verification: ({ decisions }) => decisions.webhookVerification !== undefined,
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
