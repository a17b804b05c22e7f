// The fields of traffic events, which a source may select and a filter can use as members of `ev`. Those of modules are in
// the reports of their descriptors.

import type { EventName } from '../types.ts';

export type TrafficEventName = Extract<EventName, 'http_request_complete.v0' | 'tcp_connection_closed.v0'>;

/**
 * `timestamp` is a text: RFC 3339 in UTC, with milliseconds. `headers` is an object: names in lower case, each with the
 * list of its values. `list` is a list of objects.
 */
export type FieldType = 'string' | 'number' | 'boolean' | 'timestamp' | 'headers' | 'list';

export interface TrafficField {
  /** The path in the object of the event: `http.request.method`. */
  name: string;
  type: FieldType;
  description: string;
}

export type FieldTable = Record<string, readonly [FieldType, string]>;

const SECRETS_HIDDEN = 'the values of authorization, proxy-authorization, cookie and set-cookie are "***"';

const commonFields = {
  'conn.client_ip': ['string', 'The address of the visitor.'],
  'conn.server_ip': ['string', 'The address of the gateway that the visitor came to.'],
  'conn.server_name': ['string', 'The name that the visitor came to; "" for none.'],
  'conn.server_port': ['number', 'The port of the gateway that the visitor came to.'],
  'conn.start_ts': ['timestamp', 'When the connection was opened.'],
  'traffic_policy.logs': ['list', 'What `log` actions of the traffic policies said.'],
} as const satisfies FieldTable;

export const requestFields = {
  ...commonFields,
  'backend.connection_reused': ['boolean', 'Whether the stream to the agent had carried another request before.'],
  'compression.algorithm': ['string', 'How the answer was compressed, as "gzip".'],
  'compression.bytes_saved': ['number', 'How many bytes of the answer compression saved.'],
  'http.request.method': ['string', 'The method, as "GET".'],
  'http.request.version': ['string', 'The version of HTTP, as "HTTP/1.1".'],
  'http.request.body_length': ['number', 'Bytes of the body of the request.'],
  'http.request.headers': ['headers', `The header fields of the request; ${SECRETS_HIDDEN}.`],
  'http.request.user_agent': ['string', 'The User-Agent of the request; "" for none.'],
  'http.request.first_byte_ts': ['timestamp', 'When the request began.'],
  'http.request.last_byte_ts': ['timestamp', 'When the last byte of the request had come.'],
  'http.request.url.scheme': ['string', 'The scheme of the URL: "http" or "https".'],
  'http.request.url.host': ['string', 'The host of the URL, with the port where one was sent.'],
  'http.request.url.path': ['string', 'The path of the URL.'],
  'http.request.url.query': ['string', 'The query of the URL without the "?"; "" for none.'],
  'http.request.url.raw': ['string', 'The whole URL.'],
  'http.response.status_code': ['number', 'The status of the answer.'],
  'http.response.body_length': ['number', 'Bytes of the body of the answer.'],
  'http.response.headers': ['headers', `The header fields of the answer; ${SECRETS_HIDDEN}.`],
  'http.response.first_byte_ts': ['timestamp', 'When the answer began.'],
  'http.response.last_byte_ts': ['timestamp', 'When the last byte of the answer was sent.'],
  'tls.version': ['string', 'The version of TLS, as "TLSv1.3".'],
  'tls.cipher_suite': ['string', 'The cipher suite, by its standard name.'],
  'tls.client_cert.serial_number': ['string', 'The serial number of the visitor’s certificate.'],
  'tls.client_cert.subject.cn': ['string', 'The common name in the visitor’s certificate.'],
} as const satisfies FieldTable;

export const connectionFields = {
  ...commonFields,
  'conn.end_ts': ['timestamp', 'When the connection was closed.'],
  'conn.bytes_in': ['number', 'Bytes that came from the visitor.'],
  'conn.bytes_out': ['number', 'Bytes that were sent to the visitor.'],
} as const satisfies FieldTable;

/** The names of these fields. The compiler makes every serializer know all of them. */
export type RequestFieldName = keyof typeof requestFields;
export type ConnectionFieldName = keyof typeof connectionFields;

export function isTrafficEvent(type: string): type is TrafficEventName {
  return type === 'http_request_complete.v0' || type === 'tcp_connection_closed.v0';
}

/** Whether a source may select this name: one of the fields, or a prefix such as `http.request` for all fields below it. */
export function isSelectable(fields: readonly TrafficField[], selected: string): boolean {
  return fields.some(({ name }) => name === selected || name.startsWith(`${selected}.`));
}
