import type { Kind } from '../store/changes.ts';

/** What a message calls each kind of thing. */
export const nouns: Record<Kind, string> = {
  apiKey: 'API key',
  credential: 'credential',
  user: 'user',
  botUser: 'bot user',
  reservedDomain: 'reserved domain',
  httpsEdge: 'HTTPS edge',
  httpsEdgeRoute: 'HTTPS edge route',
  tlsEdge: 'TLS edge',
  tunnelGroupBackend: 'backend',
  certificateAuthority: 'certificate authority',
  eventDestination: 'event destination',
  eventSubscription: 'event subscription',
  endpoint: 'endpoint',
  tunnel: 'tunnel',
  tunnelSession: 'tunnel session',
};
