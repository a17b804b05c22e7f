/** Where the gateway connects to for tenants who name addresses as backends. */
export interface DialSettings {
  /** Hosts besides public addresses: names, `*.name` for those below, and networks (CIDR). */
  backendHosts: string[];
  /** A PEM file with certificate authorities that are trusted there, besides the public ones. */
  backendCaFile: string | undefined;
}

/** The settings of the public listeners. Times are milliseconds. */
export interface EdgeSettings {
  /** How long an upstream may take to begin its answer, from the end of the request; longer is a 504. */
  upstreamTimeout: number;
  /** The most that agents, and policies, may have instead. */
  upstreamTimeoutMax: number;
  /** How long a visitor may take for a request's head, or for a TLS handshake. */
  headTimeout: number;
  /** How long a connection may be without a byte either way, in the middle of a request or an answer. */
  stallTimeout: number;
  /** How long a visitor's connection may wait for its next request. */
  idleTimeout: number;
  /**
   * Connections of visitors, of all listeners together. For one more, the idlest is closed; where none is idle, it is
   * answered with 503, or closed.
   */
  maxVisitors: number;
  /** Connections that one address may hold without others being let in instead; 0: a quarter of them. */
  maxVisitorsPerAddress: number;
  /** Domains below which several accounts have names, in lower case: no service sets cookies for them, or for domains above. */
  sharedDomains: readonly string[];
  /** From where policies may fetch keys: `public` addresses only, or `any`. */
  policyFetch: 'public' | 'any';
  /** The most bytes of logged requests in memory; 0: none are logged. */
  requestLogBytes: number;
  /** A directory of `*.crt` files with their `*.key`, in PEM; undefined: only certificates of the development CA. */
  tlsDir: string | undefined;
}
