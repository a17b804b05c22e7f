// Every type of event that a subscription can deliver: the one catalogue.

/** Audit events tell who changed what, and what came and went; traffic events tell of single requests and connections. */
export type EventClass = 'audit' | 'traffic';

export interface EventType {
  name: EventName;
  class: EventClass;
  description: string;
}

export type EventName = `${keyof typeof objects}_${(typeof actions)[number]}.v0` | keyof typeof others;

const actions = ['created', 'updated', 'deleted'] as const;

export type ObjectName = keyof typeof objects;

/** What is created, updated and deleted through the API. Of the documented ones, those are missing that this service has not. */
const objects = {
  api_key: 'An API key',
  bot_user: 'A bot user',
  certificate_authority: 'A certificate authority',
  domain: 'A reserved domain',
  event_destination: 'An event destination',
  event_subscription: 'An event subscription',
  https_edge: 'An HTTPS edge',
  https_edge_route: 'A route of an HTTPS edge',
  ip_policy: 'An IP policy',
  ip_policy_rule: 'A rule of an IP policy',
  tls_certificate: 'A TLS certificate',
  tls_edge: 'A TLS edge',
  tunnel_credential: 'A tunnel credential',
  tunnel_group_backend: 'A tunnel group backend',
  user: 'A user',
};

const others = {
  'agent_session_start.v0': ['audit', 'An agent opened a session.'],
  'agent_session_stop.v0': ['audit', 'An agent’s session ended.'],
  'endpoint_online.v0': ['audit', 'A public address began to be served.'],
  'endpoint_offline.v0': ['audit', 'A public address is no longer served.'],
  'http_request_complete.v0': ['traffic', 'An HTTP request was answered.'],
  'tcp_connection_closed.v0': ['traffic', 'A TCP or TLS connection ended.'],
} as const satisfies Record<string, readonly [EventClass, string]>;

/** What is sent to try a destination. Nobody subscribes to it. */
export const TEST_EVENT = 'event_destination_test.v0';

/** In alphabetical order. */
export const eventTypes: readonly EventType[] = [...objectTypes(), ...otherTypes()].sort(byName);

const byNames = new Map<string, EventType>(eventTypes.map((type) => [type.name, type]));

export function isEventName(name: string): name is EventName {
  return byNames.has(name);
}

function objectTypes(): EventType[] {
  const names = Object.keys(objects) as (keyof typeof objects)[];
  return names.flatMap((object) =>
    actions.map((action) => ({
      name: `${object}_${action}.v0` as const,
      class: 'audit' as const,
      description: `${objects[object]} was ${action}.`,
    })),
  );
}

function otherTypes(): EventType[] {
  const names = Object.keys(others) as (keyof typeof others)[];
  return names.map((name) => ({ name, class: others[name][0], description: others[name][1] }));
}

function byName(a: EventType, b: EventType): number {
  return a.name < b.name ? -1 : 1;
}
