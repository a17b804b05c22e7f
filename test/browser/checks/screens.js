// The paths of every screen, each with something to show.

/** Screens that need no object. */
const LISTS = [
  'endpoints',
  'endpoints/offline',
  'agents',
  'traffic',
  'credentials',
  'credentials/new',
  'domains',
  'domains/new',
  'domains/certificates',
  'domains/certificates/new',
  'edges',
  'edges/tls',
  'edges/new',
  'edges/backends',
  'edges/backends/new',
  'edges/ip-policies',
  'edges/ip-policies/new',
  'edges/authorities',
  'edges/authorities/new',
  'events',
  'events/destinations/new',
  'events/subscriptions',
  'events/subscriptions/new',
  'access',
  'access/keys/new',
  'access/bots',
  'access/bots/new',
  'access/users',
  'access/users/new',
  'me',
  'nowhere/at/all',
];

/**
 * Creates the objects that are still missing, so that each screen has something to show.
 * @param {(query: string, variables?: object) => Promise<any>} ask
 * @param {{ edgeId: string, routeId: string }} edge
 * @returns {Promise<string[]>} paths below /dashboard/
 */
export async function screenPaths(ask, { edgeId, routeId }) {
  const made = await ask(`mutation {
    policy: createIpPolicy(input: { description: "the office" }) { id }
    tlsEdge: createTlsEdge(input: { description: "mail" }) { id }
    bot: createBotUser(input: { name: "robot" }) { id }
    destination: createEventDestination(input: {
      description: "to nowhere"
      target: { webhook: { url: "https://hooks.invalid/", signingSecret: "0123456789abcdef" } }
    }) { id }
  }`);
  const { rule, subscription } = await ask(
    `mutation ($policy: ID!, $destination: ID!) {
      rule: createIpPolicyRule(input: { ipPolicyId: $policy, cidr: "192.0.2.0/24", action: "allow" }) { id }
      subscription: createEventSubscription(input: {
        description: "everything of note", destinationIds: [$destination],
        sources: [{ type: "http_request_complete.v0", filter: "ev.http.response.status_code >= 500" }]
      }) { id }
    }`,
    { policy: made.policy.id, destination: made.destination.id },
  );
  const { gatewayInfo } = await ask('{ gatewayInfo { caCertificate } }');
  const { authority } = await ask(
    'mutation ($caPem: String!) { authority: createCertificateAuthority(input: { caPem: $caPem }) { id } }',
    { caPem: gatewayInfo.caCertificate },
  );
  const there = await ask(`{
    endpoints { nodes { id } } tunnelSessions { nodes { id tunnels { id } } } reservedDomains { nodes { id } }
    tunnelGroupBackends { nodes { id } } apiKeys { nodes { id } } users { nodes { id } }
  }`);
  const [session] = there.tunnelSessions.nodes;
  const first = (/** @type {string} */ list) => there[list].nodes[0].id;
  const route = `edges/https/${edgeId}/routes/${routeId}`;
  return [
    ...LISTS,
    `endpoints/${first('endpoints')}`,
    `agents/${session.id}`,
    `agents/tunnels/${session.tunnels[0].id}`,
    `domains/${first('reservedDomains')}`,
    `edges/https/${edgeId}`,
    `edges/https/${edgeId}/routes/new`,
    route,
    `${route}/modules/circuitBreaker`,
    `${route}/modules/trafficPolicy`,
    `edges/tls/${made.tlsEdge.id}`,
    `edges/backends/${first('tunnelGroupBackends')}`,
    `edges/authorities/${authority.id}`,
    `edges/ip-policies/${made.policy.id}`,
    `edges/ip-policy-rules/${rule.id}`,
    `events/destinations/${made.destination.id}`,
    `events/destinations/${made.destination.id}/edit`,
    `events/subscriptions/${subscription.id}`,
    `access/keys/${first('apiKeys')}`,
    `access/bots/${made.bot.id}`,
    `access/users/${first('users')}`,
  ];
}
