// What the API has. A new resource adds its line here.

export * as modules from '../modules/index.ts';
export * as apiKeys from './api-keys.ts';
export * as botUsers from './bot-users.ts';
export * as certificateAuthorities from './certificate-authorities.ts';
export * as credentials from './credentials.ts';
export * as endpoints from './endpoints.ts';
export * as eventDeadLetters from './event-dead-letters.ts';
export * as eventDeliveries from './event-deliveries.ts';
export * as eventDestinations from './event-destinations.ts';
export * as eventSources from './event-sources.ts';
export * as eventSubscriptions from './event-subscriptions.ts';
export * as eventTypes from './event-types.ts';
export * as httpsEdgeRoutes from './https-edge-routes.ts';
export * as httpsEdges from './https-edges.ts';
export * as ipPolicies from './ip-policies.ts';
export * as ipPolicyRules from './ip-policy-rules.ts';
export * as policyEvaluation from './policy-evaluation.ts';
export * as reservedDomainCertificates from './reserved-domain-certificates.ts';
export * as reservedDomains from './reserved-domains.ts';
export * as tlsCertificates from './tls-certificates.ts';
export * as tlsEdges from './tls-edges.ts';
export * as tunnelGroupBackends from './tunnel-group-backends.ts';
export * as tunnelSessions from './tunnel-sessions.ts';
export * as tunnels from './tunnels.ts';
export * as users from './users.ts';
