// The operations with bodies on the modules that the specification does not describe.

import type { World } from '../world.ts';
import { none, type Type, the, type Writing, writing } from './writing.ts';

const routePath = '/edges/https/{edge_id}/routes/{id}';
const theRoute = ({ ids }: World) => ({ edge_id: ids.httpsEdge, id: ids.route });

type Members = Record<string, Type>;
const ofRoute = (path: string, name: string, members: Members, good?: Writing['good']) =>
  writing(
    `PUT ${routePath}/${path}`,
    `replaceHttpsEdgeRoute${name}`,
    { enabled: 'boolean', ...members },
    good,
    theRoute,
  );
const ofTlsEdge = (path: string, name: string, members: Members, good?: Writing['good']) =>
  writing(
    `PUT /edges/tls/{id}/${path}`,
    `replaceTlsEdge${name}`,
    { enabled: 'boolean', ...members },
    good,
    the('tlsEdge'),
  );
const ofTcpEdge = (path: string, name: string, members: Members, good?: Writing['good']) =>
  writing(
    `PUT /edges/tcp/{id}/${path}`,
    `replaceTcpEdge${name}`,
    { enabled: 'boolean', ...members },
    good,
    the('tcpEdge'),
  );

const withIpPolicy = ({ ids }: World) => ({ ip_policy_ids: [ids.ipPolicy] });
const headers = { add: 'labels', remove: 'strings' } as const;
const rules = { inbound: 'objects', outbound: 'objects' } as const;

const oauthApp = (name: string): Members => ({
  [`provider.${name}`]: 'object',
  [`provider.${name}.client_id`]: 'string',
  [`provider.${name}.client_secret`]: 'string',
  ...Object.fromEntries(
    ['scopes', 'email_addresses', 'email_domains'].map((list) => [`provider.${name}.${list}`, 'strings'] as const),
  ),
});
const oauthProviders: Members = {
  ...oauthApp('github'),
  ...{ 'provider.github.teams': 'strings', 'provider.github.organizations': 'strings' },
  ...oauthApp('google'),
};

export const moduleWritings = {
  putRouteIpRestriction: ofRoute('ip_restriction', 'IpRestriction', { ip_policy_ids: 'ids' }, withIpPolicy),
  putTlsIpRestriction: ofTlsEdge('ip_restriction', 'IpRestriction', { ip_policy_ids: 'ids' }, withIpPolicy),
  putTcpIpRestriction: ofTcpEdge('ip_restriction', 'IpRestriction', { ip_policy_ids: 'ids' }, withIpPolicy),
  putTcpTrafficPolicy: ofTcpEdge('traffic_policy', 'TrafficPolicy', { value: 'string' }, () => ({ value: '{}' })),
  putTcpPolicy: ofTcpEdge('policy', 'Policy', rules),
  putCompression: ofRoute('compression', 'Compression', {}),
  putWebsocketTcpConverter: ofRoute('websocket_tcp_converter', 'WebsocketTcpConverter', {}),
  putRequestHeaders: ofRoute('request_headers', 'RequestHeaders', headers),
  putResponseHeaders: ofRoute('response_headers', 'ResponseHeaders', headers),
  putWebhookVerification: ofRoute(
    'webhook_verification',
    'WebhookVerification',
    { provider: 'string', secret: 'string' },
    () => ({ provider: 'github', secret: 'hostile' }),
  ),
  putUpstream: ofRoute('upstream', 'Upstream', {
    ...{ timeout: 'uint32', host_header: 'string', allow_half_close: 'boolean' },
  }),
  putUserAgentFilter: ofRoute('user_agent_filter', 'UserAgentFilter', { allow: 'strings', deny: 'strings' }),
  putBasicAuth: ofRoute('basic_auth', 'BasicAuth', { realm: 'string', credentials: 'objects' }, () => ({
    credentials: [{ username: 'ada', password: 'long enough' }],
  })),
  putOauth: ofRoute(
    'oauth',
    'Oauth',
    {
      ...{ provider: 'object', ...oauthProviders, options_passthrough: 'boolean', cookie_prefix: 'string' },
      ...{ inactivity_timeout: 'uint32', maximum_duration: 'uint32', auth_check_interval: 'uint32' },
    },
    () => ({ provider: { github: { client_id: 'app', client_secret: 'hostile' } } }),
  ),
  putOidc: ofRoute(
    'oidc',
    'Oidc',
    {
      ...{ issuer: 'string', client_id: 'string', client_secret: 'string', scopes: 'strings' },
      ...{ options_passthrough: 'boolean', cookie_prefix: 'string' },
      ...{ inactivity_timeout: 'uint32', maximum_duration: 'uint32' },
    },
    () => ({ issuer: 'https://id.example.com', client_id: 'shop', client_secret: 'hostile' }),
  ),
  putRouteTrafficPolicy: ofRoute('traffic_policy', 'TrafficPolicy', { value: 'string' }, () => ({ value: '{}' })),
  putTlsTrafficPolicy: ofTlsEdge('traffic_policy', 'TrafficPolicy', { value: 'string' }, () => ({ value: '{}' })),
  putRoutePolicy: ofRoute('policy', 'Policy', rules),
  putTlsPolicy: ofTlsEdge('policy', 'Policy', rules),
  putTlsTermination: ofTlsEdge('tls_termination', 'TlsTermination', { terminate_at: 'enum', min_version: 'string' }),
  putHttpsTlsTermination: writing(
    'PUT /edges/https/{id}/tls_termination',
    'replaceHttpsEdgeTlsTermination',
    { enabled: 'boolean', terminate_at: 'enum', min_version: 'string' },
    none,
    the('httpsEdge'),
  ),
};
