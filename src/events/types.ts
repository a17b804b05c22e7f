// The types of event that a subscription can deliver.

/** Audit events record changes, and what goes online and offline. Traffic events record single requests and connections. */
export type EventClass = 'audit' | 'traffic';

export interface EventTypeEntry {
  name: EventName;
  class: EventClass;
  description: string;
}

/** What the API does with an object. */
export type ObjectAction = (typeof actions)[number];

export type EventName = `${string}_${ObjectAction}.v0` | keyof typeof others;

const actions = ['created', 'updated', 'deleted'] as const;
const OBJECT_EVENT = new RegExp(`_(${actions.join('|')})\\.v0$`);

/** A kind of object that is created, updated and deleted through the API. Its resource there declares it. */
export interface EventObject {
  /** The first part of the names of its events, in snake_case: `tunnel_credential`. */
  name: string;
  /** The subject of a sentence: `A tunnel credential`. */
  subject: string;
  /** What the API does with it; all of it when left out. */
  actions?: readonly ObjectAction[];
}

const others = {
  'agent_session_start.v0': ['audit', 'An agent opened a session.'],
  'agent_session_stop.v0': ['audit', 'An agent’s session ended.'],
  'alert_fired.v0': ['audit', 'An alert fired whose rule tells the events pipeline.'],
  'alert_resolved.v0': ['audit', 'An alert that had fired was resolved.'],
  'domain_certificate_issued.v0': ['audit', 'A certificate was obtained for a reserved domain.'],
  'domain_certificate_renewed.v0': ['audit', 'The certificate of a reserved domain was renewed.'],
  'domain_certificate_failed.v0': ['audit', 'A certificate could not be obtained for a reserved domain.'],
  'endpoint_online.v0': ['audit', 'A public address began to be served.'],
  'endpoint_offline.v0': ['audit', 'A public address is no longer served.'],
  'http_request_complete.v0': ['traffic', 'An HTTP request was answered.'],
  'name_conflict_settled.v0': [
    'audit',
    'Two accounts used names of one site, as earlier versions let them; the one that was there first keeps it.',
  ],
  'tcp_connection_closed.v0': ['traffic', 'A TCP or TLS connection ended.'],
} as const satisfies Record<string, readonly [EventClass, string]>;

/** The event that tests a destination. It cannot be subscribed to. */
export const TEST_EVENT = 'event_destination_test.v0';

/** The catalogue, in alphabetical order. @param objects the kinds of object that have events of their own. */
export function eventCatalog(objects: readonly EventObject[]): EventTypeEntry[] {
  return [...objects.flatMap(objectTypes), ...otherTypes()].sort(byName);
}

/** Whether a type is of audit events. The test event is not. */
export function isAuditEvent(name: string): boolean {
  return OBJECT_EVENT.test(name) || (Object.hasOwn(others, name) && others[name as keyof typeof others][0] === 'audit');
}

function objectTypes({ name, subject, actions: own = actions }: EventObject): EventTypeEntry[] {
  return own.map((action) => ({
    name: `${name}_${action}.v0` as const,
    class: 'audit' as const,
    description: `${subject} was ${action}.`,
  }));
}

function otherTypes(): EventTypeEntry[] {
  const names = Object.keys(others) as (keyof typeof others)[];
  return names.map((name) => ({ name, class: others[name][0], description: others[name][1] }));
}

function byName(a: EventTypeEntry, b: EventTypeEntry): number {
  return a.name < b.name ? -1 : 1;
}
