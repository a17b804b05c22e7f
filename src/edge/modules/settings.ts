// What modules are told. The API stores it, agents send it when they bind. Where a module has `enabled`, false means that
// it is as if it were not there.

import type { CircuitBreakerSettings } from './circuit-breaker.ts';

export interface HeaderSettings {
  enabled: boolean;
  /** Values by name; each is added as a line of its own, after what `remove` names is gone. */
  add: Record<string, string>;
  remove: string[];
}

export interface IpRestrictionSettings {
  enabled: boolean;
  /** Networks such as `10.0.0.0/8`. Who is in none of `allow` is turned away, and who is in one of `deny`. */
  allow: string[];
  deny: string[];
}

export interface UserAgentFilterSettings {
  enabled: boolean;
  /** Regular expressions (RE2). */
  allow: string[];
  deny: string[];
}

export interface WebhookVerificationSettings {
  enabled: boolean;
  provider: string;
  secret: string;
}

export interface BasicAuthSettings {
  enabled: boolean;
  realm: string;
  credentials: { username: string; password: string }[];
}

/** A traffic policy: a document in JSON or YAML. */
export interface TrafficPolicySettings {
  enabled: boolean;
  value: string;
}

export interface MutualTlsSettings {
  enabled: boolean;
  /** Certificates in PEM. */
  authorities: { id: string; pem: string }[];
}

export interface TlsTerminationSettings {
  enabled: boolean;
  /** `upstream`: the visitor's TLS goes through to the agent. */
  terminateAt: 'edge' | 'upstream';
  minVersion: '1.2' | '1.3';
}

/** The modules of HTTP, of a route or of a tunnel; what is not set is undefined. */
export interface HttpModuleSettings {
  ipRestriction?: IpRestrictionSettings;
  userAgentFilter?: UserAgentFilterSettings;
  basicAuth?: BasicAuthSettings;
  webhookVerification?: WebhookVerificationSettings;
  trafficPolicy?: TrafficPolicySettings;
  compression?: { enabled: boolean };
  requestHeaders?: HeaderSettings;
  responseHeaders?: HeaderSettings;
  circuitBreaker?: CircuitBreakerSettings;
  websocketTcpConverter?: { enabled: boolean };
}

/** The modules of connections, of a TLS edge or of a tunnel for TCP or TLS. */
export interface ConnectionModuleSettings {
  ipRestriction?: IpRestrictionSettings;
  trafficPolicy?: TrafficPolicySettings;
}
