// The path of the page of each object. All links are made here.

/** The base path of the dashboard. */
export const BASE_PATH = '/dashboard';

const PATHS_BY_KIND: Record<string, string> = {
  endpoint: 'endpoints',
  offlineEndpoint: 'endpoints',
  agent: 'agents',
  tunnelSession: 'agents',
  tunnel: 'agents/tunnels',
  credential: 'credentials',
  provisioningKey: 'agents/keys',
  kubernetesOperator: 'agents/operators',
  reservedDomain: 'domains',
  reservedAddress: 'domains/addresses',
  agentIngress: 'domains/ingresses',
  tlsCertificate: 'domains/certificates',
  httpsEdge: 'edges/https',
  httpsEdgeRoute: 'edges/routes',
  tlsEdge: 'edges/tls',
  tcpEdge: 'edges/tcp',
  tunnelGroupBackend: 'edges/backends',
  weightedBackend: 'edges/backends',
  failoverBackend: 'edges/backends',
  httpResponseBackend: 'edges/backends',
  staticBackend: 'edges/backends',
  certificateAuthority: 'edges/authorities',
  ipPolicy: 'edges/ip-policies',
  ipPolicyRule: 'edges/ip-policy-rules',
  accountIpRestriction: 'edges/ip-restrictions',
  vault: 'edges/vaults',
  secret: 'edges/secrets',
  eventDestination: 'events/destinations',
  eventSubscription: 'events/subscriptions',
  alert: 'alerts',
  alertRule: 'alerts/rules',
  alertChannel: 'alerts/channels',
  alertSilence: 'alerts/silences',
  apiKey: 'access/keys',
  botUser: 'access/bots',
  user: 'access/users',
  appUser: 'visitors',
  appSession: 'visitors/sessions',
  bulkJob: 'jobs',
};

/** The kinds of objects by the prefix of their ids. */
const KINDS_BY_PREFIX: Record<string, string> = {
  ep: 'endpoint',
  oep: 'offlineEndpoint',
  agt: 'agent',
  ts: 'tunnelSession',
  tn: 'tunnel',
  cr: 'credential',
  pk: 'provisioningKey',
  k8sop: 'kubernetesOperator',
  rd: 'reservedDomain',
  ra: 'reservedAddress',
  agin: 'agentIngress',
  cert: 'tlsCertificate',
  edghts: 'httpsEdge',
  edghtsrt: 'httpsEdgeRoute',
  edgtls: 'tlsEdge',
  edgtcp: 'tcpEdge',
  bkdtg: 'tunnelGroupBackend',
  bkdwd: 'weightedBackend',
  bkdfo: 'failoverBackend',
  bkdhr: 'httpResponseBackend',
  bkdsc: 'staticBackend',
  ca: 'certificateAuthority',
  ipp: 'ipPolicy',
  ipr: 'ipPolicyRule',
  ipx: 'accountIpRestriction',
  vault: 'vault',
  secret: 'secret',
  ed: 'eventDestination',
  esb: 'eventSubscription',
  al: 'alert',
  alr: 'alertRule',
  alc: 'alertChannel',
  als: 'alertSilence',
  ak: 'apiKey',
  bot: 'botUser',
  usr: 'user',
  appu: 'appUser',
  apps: 'appSession',
  bj: 'bulkJob',
};

/** The path of a page: `pathTo('credentials', 'new')`. */
export function pathTo(...parts: string[]): string {
  return [BASE_PATH, ...parts.map(encodeURIComponent)].join('/');
}

/** The path of an object's page. The kind is that of `changes` and `search`: `credential`. */
export function objectPath(kind: string, id: string): string {
  return `${BASE_PATH}/${PATHS_BY_KIND[kind] ?? 'endpoints'}/${encodeURIComponent(id)}`;
}

/** The path of a route of an HTTPS edge. */
export function edgeRoutePath(edgeId: string, routeId: string): string {
  return `${objectPath('httpsEdge', edgeId)}/routes/${encodeURIComponent(routeId)}`;
}

/** The kind of the object with this id; undefined if the prefix is unknown. */
export function kindOf(id: string): string | undefined {
  return KINDS_BY_PREFIX[id.slice(0, id.lastIndexOf('_'))];
}
