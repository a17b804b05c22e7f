// The options of a bind, as agents and SDKs of the original service send them, and what becomes of each. The manual's table is generated
// from this one.

export interface OptionRule {
  /** `acts`: the gateway does what it says. `told`: it asks for nothing, and is accepted. `refused`: the bind is refused. */
  effect: 'acts' | 'told' | 'refused';
  /** What it does, or why it is told only or refused. */
  text: string;
}

/** By the names of members of `Opts`; names within one stand behind a dot. */
export const bindOptions: Readonly<Record<string, OptionRule>> = {
  URL: { effect: 'acts', text: 'The address. Without a host the next ones say it.' },
  Hostname: { effect: 'acts', text: 'The name.' },
  Domain: { effect: 'acts', text: 'The name.' },
  Subdomain: { effect: 'acts', text: 'The name, below `BASE_DOMAIN`.' },
  Addr: { effect: 'acts', text: 'The port of a TCP address.' },
  ProxyProto: { effect: 'acts', text: 'The version of the PROXY protocol towards the service: 1, 2, or 0 for none.' },
  Auth: { effect: 'acts', text: 'A user name and a password that visitors need.' },
  BasicAuth: { effect: 'acts', text: 'User names and passwords.' },
  'BasicAuth.hashed_password': { effect: 'refused', text: 'Its hash is of a kind that only the original can compare.' },
  OAuth: { effect: 'acts', text: 'Visitors sign in at a provider.' },
  'OAuth.sealed_client_secret': { effect: 'refused', text: 'It is encrypted for the original.' },
  OIDC: { effect: 'acts', text: 'Visitors sign in at an issuer.' },
  'OIDC.sealed_client_secret': { effect: 'refused', text: 'It is encrypted for the original.' },
  SAML: { effect: 'refused', text: 'There is no SAML here; without it everybody could come in.' },
  IPRestriction: { effect: 'acts', text: 'Networks that may visit, and that may not.' },
  UserAgentFilter: { effect: 'acts', text: 'Programs that may visit, and that may not.' },
  WebhookVerification: { effect: 'acts', text: 'Requests have to be signed by a provider of webhooks.' },
  'WebhookVerification.sealed_secret': { effect: 'refused', text: 'It is encrypted for the original.' },
  MutualTLSCA: { effect: 'acts', text: 'Authorities that have to know the visitor.' },
  MutualTLSAtEdge: { effect: 'acts', text: 'The same, of `tls`.' },
  MutualTLSAtAgent: { effect: 'told', text: 'The agent asks visitors for certificates by itself.' },
  TLSTermination: { effect: 'acts', text: 'TLS ends at the gateway, with this certificate or one of its own.' },
  'TLSTermination.sealed_key': { effect: 'refused', text: 'It is encrypted for the original.' },
  Compression: { effect: 'acts', text: 'Answers are compressed.' },
  CircuitBreaker: { effect: 'acts', text: 'A service that fails too often gets a pause.' },
  RequestHeaders: { effect: 'acts', text: 'Headers that requests get, and lose.' },
  ResponseHeaders: { effect: 'acts', text: 'Headers that answers get, and lose.' },
  WebsocketTCPConverter: { effect: 'acts', text: 'Messages of WebSockets become a stream of bytes.' },
  TrafficPolicy: { effect: 'acts', text: 'A traffic policy.' },
  Policy: { effect: 'acts', text: 'The same, of older SDKs.' },
  HostHeader: {
    effect: 'acts',
    text: 'The name that the service is asked by; of the agent of this gateway (`--host-header`).',
  },
  UpstreamTimeout: {
    effect: 'acts',
    text: 'Seconds until an answer has to begin; of the agent of this gateway (`--upstream-timeout`).',
  },
  HostHeaderRewrite: { effect: 'told', text: 'The agent rewrites the header by itself.' },
  LocalURLScheme: { effect: 'told', text: 'The agent speaks it to its service by itself.' },
};

/** The same of members of `Extra`. */
export const bindExtras: Readonly<Record<string, OptionRule>> = {
  Name: { effect: 'acts', text: 'What the endpoint is called in the API.' },
  Metadata: { effect: 'acts', text: 'The metadata of the tunnel.' },
  PoolingEnabled: { effect: 'acts', text: 'Others may serve the address, too, if they ask for the same.' },
  Bindings: { effect: 'acts', text: '`public`, or `internal` of names that end with `.internal`; others are refused.' },
  Token: { effect: 'acts', text: 'The bind token: the tunnel comes back.' },
  Description: { effect: 'told', text: 'Endpoints of agents show none.' },
  IPPolicyRef: {
    effect: 'refused',
    text: 'It names an IP policy of the original; without it everybody could come in. Use `IPRestriction`, or an action of a traffic policy.',
  },
};
