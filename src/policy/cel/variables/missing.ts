// Names of other implementations that this gateway does not support. A policy with one of them is refused, instead of
// having a rule that never matches.

import type { Proto } from '../../../tunnel/endpoints/endpoint.ts';
import type { PolicyPhase } from '../vocabulary.ts';

const NO_LISTS = 'needs lists of known addresses, which this gateway does not have';
const NO_BODY = 'is not available: policies see heads only, and bodies are streamed';
const NO_TLS = 'is not available for a TCP endpoint: its bytes are not inspected';
const NO_REQUEST = 'is available only in on_http_request and on_http_response';
const NO_ANSWER = 'is available only in on_http_response';
const NO_CLUSTER = 'is known inside a Kubernetes cluster only';
const NO_REGIONS = 'is not available: this gateway has no regions';
const NO_END = 'is not known yet: policies run before a connection ends';
const NOT_OUR_TLS = "is known to the agent only: upstream's TLS, if there is any, begins there";

const ALWAYS = {
  ...ofAddress('conn.client_ip'),
  ...ofAddress('conn.server_ip'),
  'conn.server_region': NO_REGIONS,
  'conn.end_ts': NO_END,
  'conn.ts.end': NO_END,
  'conn.k8s': NO_CLUSTER,
};

const OF_REQUEST = {
  'req.body': NO_BODY,
  'req.trailers': NO_BODY,
  'req.ts.body_received': NO_BODY,
  'req.Trailers': NO_BODY,
  'req.Form': NO_BODY,
};

const OF_ANSWER = {
  'res.body': NO_BODY,
  'res.trailers': NO_BODY,
  'res.Trailers': NO_BODY,
  'res.ServerTLS': NOT_OUR_TLS,
};

/** The unsupported names of a phase, including functions, with the reason, worded to be read after the name. */
export function missingIn(phase: PolicyPhase, proto: Proto, laterFunctions: readonly string[]): Record<string, string> {
  const later = phase === 'on_tcp_connect' ? NO_REQUEST : NO_ANSWER;
  return {
    ...ALWAYS,
    ...(proto === 'tcp' ? { 'conn.tls': NO_TLS, 'conn.TLS': NO_TLS } : {}),
    ...(phase === 'on_tcp_connect' ? { req: NO_REQUEST } : OF_REQUEST),
    ...(phase === 'on_http_response' ? OF_ANSWER : { res: NO_ANSWER }),
    ...Object.fromEntries(laterFunctions.map((name) => [name, later])),
  };
}

function ofAddress(name: string): Record<string, string> {
  const members = ['categories', 'is_on_blocklist', 'is_tor_node'];
  return Object.fromEntries(members.map((member) => [`${name}.${member}`, NO_LISTS]));
}
