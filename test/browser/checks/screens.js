// The paths of every screen, each with something to show.

import { objectsOf } from '../support/payloads.js';

/** Screens that need no object. */
const LISTS = [
  'overview',
  'endpoints',
  'endpoints/failing',
  'endpoints/offline',
  'alerts',
  'alerts/rules',
  'alerts/rules/new',
  'alerts/channels',
  'alerts/channels/new',
  'alerts/silences',
  'alerts/silences/new',
  'agents',
  'agents/sessions',
  'agents/keys',
  'agents/keys/new',
  'agents/operators',
  'requests',
  'traffic',
  'visitors',
  'visitors/sessions',
  'credentials',
  'credentials?filter=obj.description.contains("a")%20%26%26%20(size(obj.acl)==0)&order=description%20desc',
  'credentials?search=nowhere',
  'credentials/new',
  'domains',
  'domains/new',
  'domains/addresses',
  'domains/addresses/new',
  'domains/certificates',
  'domains/certificates/new',
  'domains/ingresses',
  'domains/ingresses/new',
  'edges',
  'edges/tls',
  'edges/tcp',
  'edges/new',
  'edges/new/empty',
  'edges/new/empty?kind=tcp',
  'edges/backends',
  'edges/backends/new',
  'edges/ip-policies',
  'edges/ip-policies/new',
  'edges/ip-restrictions',
  'edges/ip-restrictions/new',
  'edges/vaults',
  'edges/vaults/new',
  'edges/authorities',
  'edges/authorities/new',
  'events',
  'events/destinations/new',
  'events/subscriptions',
  'events/subscriptions/new',
  'audit',
  'audit?kind=ipPolicy&action=UPDATED',
  'access',
  'access/keys/new',
  'access/bots',
  'access/bots/new',
  'access/users',
  'access/users/new',
  'jobs',
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
  const made = objectsOf(
    await ask(`mutation {
    policy: createIpPolicy(input: { description: "the office" }) { ipPolicy { id } }
    vault: createVault(input: { name: "printers", description: "passwords" }) { vault { id } }
    tlsEdge: createTlsEdge(input: { description: "mail" }) { tlsEdge { id } }
    tcpEdge: createTcpEdge(input: { description: "shells" }) { tcpEdge { id } }
    domain: createReservedDomain(input: { domain: "shop.example.com" }) { reservedDomain { id } }
    address: createReservedAddress(input: { description: "the shell" }) { reservedAddress { id } }
    ingress: createAgentIngress(input: { domain: "agents.example.com" }) { agentIngress { id } }
    operator: createKubernetesOperator(input: { deployment: { name: "operator" } }) { kubernetesOperator { id } }
    bot: createBotUser(input: { name: "robot" }) { botUser { id } }
    destination: createEventDestination(input: {
      description: "to nowhere"
      target: { webhook: { url: "https://hooks.invalid/", signingSecret: "0123456789abcdef" } }
    }) { eventDestination { id } }
  }`),
  );
  const { rule, subscription } = objectsOf(
    await ask(
      `mutation ($policy: ID!, $destination: ID!) {
      rule: createIpPolicyRule(input: { ipPolicyId: $policy, cidr: "192.0.2.0/24", action: ALLOW }) { ipPolicyRule { id } }
      subscription: createEventSubscription(input: {
        description: "everything of note", destinationIds: [$destination],
        sources: [{ type: "http_request_complete.v0", filter: "ev.http.response.status_code >= 500" }]
      }) { eventSubscription { id } }
    }`,
      { policy: made.policy.id, destination: made.destination.id },
    ),
  );
  const { secret } = objectsOf(
    await ask(
      'mutation ($vault: ID!) { secret: createSecret(input: { vaultId: $vault, name: "office", value: "hidden" }) { secret { id } } }',
      { vault: made.vault.id },
    ),
  );
  const { gatewayInfo } = await ask('{ gatewayInfo { caCertificate } }');
  const { authority } = objectsOf(
    await ask(
      'mutation ($caPem: String!) { authority: createCertificateAuthority(input: { caPem: $caPem }) { certificateAuthority { id } } }',
      { caPem: gatewayInfo.caCertificate },
    ),
  );
  await ask(
    'mutation ($id: ID!) { updateIpPolicy(id: $id, input: { description: "both offices" }) { ipPolicy { id } } }',
    {
      id: made.policy.id,
    },
  );
  const there = await ask(`{
    auditEntries(kind: "ipPolicy", first: 1) { nodes { id } }
    endpoints { nodes { id } } tunnelSessions { nodes { id tunnels { id } } }
    agents(first: 1) { nodes { id } } provisioningKeys(first: 1) { nodes { id } }
    tunnelGroupBackends { nodes { id } } apiKeys { nodes { id } } users { nodes { id } }
    requestLog(first: 1) { nodes { id } } bulkJobs(first: 1) { nodes { id } }
  }`);
  // A device that was only provisioned serves nothing.
  const session = there.tunnelSessions.nodes.find((/** @type {any} */ { tunnels }) => tunnels.length > 0);
  const first = (/** @type {string} */ list) => there[list].nodes[0].id;
  const route = `edges/https/${edgeId}/routes/${routeId}`;
  return [
    ...LISTS,
    `endpoints/${first('endpoints')}`,
    `agents/${first('agents')}`,
    `agents/keys/${first('provisioningKeys')}`,
    `requests/${first('requestLog')}`,
    `agents/${session.id}`,
    `agents/tunnels/${session.tunnels[0].id}`,
    `domains/${made.domain.id}`,
    `domains/addresses/${made.address.id}`,
    `domains/ingresses/${made.ingress.id}`,
    `agents/operators/${made.operator.id}`,
    `edges/https/${edgeId}`,
    `edges/https/${edgeId}/routes/new`,
    route,
    `${route}/modules/circuitBreaker`,
    `${route}/modules/trafficPolicy`,
    `edges/tls/${made.tlsEdge.id}`,
    `edges/tcp/${made.tcpEdge.id}`,
    `edges/backends/${first('tunnelGroupBackends')}`,
    `edges/authorities/${authority.id}`,
    `edges/ip-policies/${made.policy.id}`,
    `edges/ip-policy-rules/${rule.id}`,
    `edges/vaults/${made.vault.id}`,
    `edges/secrets/${secret.id}`,
    `events/destinations/${made.destination.id}`,
    `events/destinations/${made.destination.id}/edit`,
    `events/subscriptions/${subscription.id}`,
    `audit/${first('auditEntries')}`,
    `jobs/${first('bulkJobs')}`,
    `access/keys/${first('apiKeys')}`,
    `access/bots/${made.bot.id}`,
    `access/users/${first('users')}`,
  ];
}
