// The object of `http_request_complete.v0`.

import type { RequestReport } from '../../edge/reports/traffic-reports.ts';
import type { RequestFieldName } from './fields.ts';
import { flag, headers, integer, list, type Member, moment, type ObjectShape, plainText, text } from './members.ts';

const members: Record<RequestFieldName, Member<RequestReport>> = {
  'backend.connection_reused': flag((report) => report.isConnectionReused),
  'basic_auth.decision': plainText(({ decisions }) => decisions.basicAuth?.decision),
  'basic_auth.username': text(({ decisions }) => decisions.basicAuth?.username),
  'circuit_breaker.decision': plainText(({ decisions }) => decisions.circuitBreaker),
  'compression.algorithm': text(({ decisions }) => decisions.compression?.algorithm),
  'compression.bytes_saved': integer(({ decisions }) => decisions.compression?.bytesSaved),
  'conn.client_ip': text(({ connection }) => connection.clientIp),
  'conn.server_ip': text(({ connection }) => connection.serverIp),
  'conn.server_name': text(({ connection }) => connection.serverName),
  'conn.server_port': integer(({ connection }) => connection.serverPort),
  'conn.start_ts': moment(({ connection }) => connection.startedAt),
  'http.request.method': text(({ request }) => request.method),
  'http.request.version': plainText(({ request }) => request.version),
  'http.request.url.scheme': plainText(({ request }) => request.scheme),
  'http.request.url.host': text(({ request }) => request.host),
  'http.request.url.path': text(({ request }) => pathOfTarget(request.target)),
  'http.request.url.query': text(({ request }) => queryOf(request.target)),
  'http.request.url.raw': text(({ request }) => urlOf(request)),
  'http.request.user_agent': text(({ request }) => firstOf(request.fields, 'user-agent')),
  'http.request.headers': headers(({ request }) => request.fields),
  'http.request.body_length': integer(({ request }) => request.bodyLength),
  'http.request.first_byte_ts': moment(({ request }) => request.firstByteAt),
  'http.request.last_byte_ts': moment(({ request }) => request.lastByteAt),
  'http.response.status_code': integer(({ response }) => response?.status),
  'http.response.headers': headers(({ response }) => response?.fields),
  'http.response.body_length': integer(({ response }) => response?.bodyLength),
  'http.response.first_byte_ts': moment(({ response }) => response?.firstByteAt),
  'http.response.last_byte_ts': moment(({ response }) => response?.lastByteAt),
  'ip_policy.decision': plainText(({ decisions }) => decisions.ipPolicy),
  'tls.version': text(({ tls }) => tls?.version),
  'tls.cipher_suite': text(({ tls }) => tls?.cipherSuite),
  'tls.client_cert.serial_number': text(({ tls }) => tls?.clientCertificate?.serialNumber),
  'tls.client_cert.subject.cn': text(({ tls }) => tls?.clientCertificate?.commonName),
  'traffic_policy.logs': list(({ decisions }) => decisions.policyLogs),
  'user_agent_filter.decision': plainText(({ decisions }) => decisions.userAgentFilter),
  'webhook_verification.decision': plainText(({ decisions }) => decisions.webhookVerification),
};

export const requestObject: ObjectShape<RequestReport> = {
  members,
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

/** As it was asked for. */
function urlOf({ scheme, host, target }: Request): string {
  return `${scheme}://${host}${target === '*' ? '' : target}`;
}

/** @param name in lower case. */
function firstOf(fields: Request['fields'], name: string): string {
  for (const field of fields) if (field[0].length === name.length && field[0].toLowerCase() === name) return field[1];
  return '';
}
