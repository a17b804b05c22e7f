// An agent that serves an endpoint of every kind that the specification knows, of its own and of edges.

import { newCredential } from '../support/agents/live.ts';
import { openSdkSession } from '../support/agents/sdk.ts';
import type { Account, TestGateway } from '../support/gateway/gateway.ts';

/** What serves each, and its protocol. */
export const liveKinds = {
  'http tunnel': { proto: 'http', type: 'ephemeral' },
  'https tunnel': { proto: 'https', type: 'ephemeral' },
  'tcp tunnel': { proto: 'tcp', type: 'ephemeral' },
  'tls tunnel': { proto: 'tls', type: 'ephemeral' },
  'tunnel at a name that is not reserved': { proto: 'https', type: 'ephemeral' },
  'https edge': { proto: 'https', type: 'edge' },
  'tcp edge': { proto: 'tcp', type: 'edge' },
  'tls edge': { proto: 'tls', type: 'edge' },
};
export type LiveKind = keyof typeof liveKinds;

export interface Live {
  /** The name below which the account has reserved all. */
  zone: string;
  /** The id of the endpoint of each. */
  ids: Record<LiveKind, string>;
  /** What the endpoint of each has to refer to: paths in the API, by its member. */
  references: Record<LiveKind, Record<string, string>>;
  close(): Promise<void>;
}

/** What edges and tunnels say about themselves. */
export const metadata = '{"floor":3}';
/** Nobody visits: an upstream need not be there. */
const nowhere = '127.0.0.1:1';

/** Brings them up. Whoever does so closes them. */
export async function goLive(
  gateway: TestGateway,
  account: Account,
  create: (path: string, body: object) => Promise<string>,
): Promise<Live> {
  const zone = 'live.walk.example.com';
  const free = 'free.walk.tunnel.localhost';
  const domain = `/reserved_domains/${await create('/reserved_domains', { domain: `*.${zone}` })}`;
  const address = async () => {
    const { body } = await account.call('POST', '/reserved_addrs', {});
    return { addr: body.addr as string, path: `/reserved_addrs/${body.id}` };
  };
  const [ofTunnel, ofEdge] = [await address(), await address()];
  const labels = { app: 'walk' };
  const backend = { backend_id: await create('/backends/tunnel_group', { labels }) };
  const edge = async (kind: string, hostport: string, more: object = {}) =>
    `/edges/${kind}/${await create(`/edges/${kind}`, { hostports: [hostport], metadata, ...more })}`;
  const edges = {
    https: await edge('https', `https-edge.${zone}:443`),
    tcp: await edge('tcp', ofEdge.addr, { backend }),
    tls: await edge('tls', `tls-edge.${zone}:443`, { backend }),
  };
  await create(`${edges.https}/routes`, { match_type: 'path_prefix', match: '/', backend });

  const { authtoken } = await newCredential(account);
  const { session, close } = await openSdkSession(gateway, authtoken);
  const http = (name: string) => session.httpEndpoint().domain(name).metadata(metadata);
  await http(`http.${zone}`).scheme('http').listenAndForward(`http://${nowhere}`);
  await http(`https.${zone}`).listenAndForward(`http://${nowhere}`);
  await http(free).listenAndForward(`http://${nowhere}`);
  await session.tcpEndpoint().remoteAddr(ofTunnel.addr).metadata(metadata).listenAndForward(`tcp://${nowhere}`);
  await session.tlsEndpoint().domain(`tls.${zone}`).metadata(metadata).listenAndForward(`tcp://${nowhere}`);
  await session.labeledListener().label('app', labels.app).listenAndForward(`http://${nowhere}`);

  const { body } = await account.call('GET', '/endpoints');
  const endpointAt = (hostport: string) =>
    body.endpoints.find((one: { hostport: string }) => `${one.hostport}:`.startsWith(`${hostport}:`));
  const tunnelAt = (hostport: string) => `/tunnels/${endpointAt(hostport)?.tunnel?.id}`;
  const at: Record<LiveKind, [hostport: string, references: Record<string, string>]> = {
    'http tunnel': [`http.${zone}`, { domain, tunnel: tunnelAt(`http.${zone}`) }],
    'https tunnel': [`https.${zone}`, { domain, tunnel: tunnelAt(`https.${zone}`) }],
    'tcp tunnel': [ofTunnel.addr, { tcp_addr: ofTunnel.path, tunnel: tunnelAt(ofTunnel.addr) }],
    'tls tunnel': [`tls.${zone}`, { domain, tunnel: tunnelAt(`tls.${zone}`) }],
    'tunnel at a name that is not reserved': [free, { tunnel: tunnelAt(free) }],
    'https edge': [`https-edge.${zone}`, { domain, edge: edges.https }],
    'tcp edge': [ofEdge.addr, { tcp_addr: ofEdge.path, edge: edges.tcp }],
    'tls edge': [`tls-edge.${zone}`, { domain, edge: edges.tls }],
  };
  const kinds = Object.entries(at) as [LiveKind, (typeof at)[LiveKind]][];
  return {
    zone,
    ids: Object.fromEntries(kinds.map(([kind, [hostport]]) => [kind, endpointAt(hostport)?.id])) as Live['ids'],
    references: Object.fromEntries(kinds.map(([kind, [, references]]) => [kind, references])) as Live['references'],
    close,
  };
}
