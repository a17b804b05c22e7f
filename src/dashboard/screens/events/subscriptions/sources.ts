// Which events a subscription delivers, as a form holds it.

import type {
  EventCatalogueQuery,
  EventSourceInput,
  EventSubscriptionFactsFragment,
} from '../../../generated/operations.ts';

export type EventType = EventCatalogueQuery['eventTypes'][number];

/** What of the events of one type is delivered. */
export interface Source {
  /** The only members, or none for all. A prefix stands for all below it. */
  fields: readonly string[];
  filter: string;
  /** Percent; null while nothing is typed. */
  share: number | null;
}

/** By type of event. */
export type Sources = Readonly<Record<string, Source>>;

const DEFAULT_SOURCE: Source = { fields: [], filter: '', share: 100 };
const PERCENT = 100;
/** 0.07 × 100 is not quite 7. */
const DIGITS = 10;

export function sourcesOfSubscription(subscription?: EventSubscriptionFactsFragment): Sources {
  const sources = subscription?.sources ?? [];
  return Object.fromEntries(
    sources.map(({ type, fields, filter, sampleRate }) => [
      type,
      { fields, filter, share: Number((sampleRate * PERCENT).toPrecision(DIGITS)) },
    ]),
  );
}

/** In alphabetical order: the gateway names them by their place in it when it objects. */
export function sourcesToInput(sources: Sources): EventSourceInput[] {
  return sortedTypes(sources).map((type) => {
    const { fields, filter, share } = sources[type] ?? DEFAULT_SOURCE;
    return {
      type,
      fields: [...fields],
      filter: filter.trim(),
      sampleRate: Number(((share ?? PERCENT) / PERCENT).toPrecision(DIGITS)),
    };
  });
}

/** How the gateway names a member of the source of a type. */
export function sourceFieldName(sources: Sources, type: string, member: 'fields' | 'filter' | 'sampleRate'): string {
  return `sources[${sortedTypes(sources).indexOf(type)}].${member}`;
}

export function withTypesSelected(sources: Sources, types: readonly string[], isChosen: boolean): Sources {
  const others = Object.entries(sources).filter(([type]) => !types.includes(type));
  const added = isChosen ? types.map((type) => [type, sources[type] ?? DEFAULT_SOURCE] as const) : [];
  return Object.fromEntries([...others, ...added]);
}

/** Whether a member is delivered by these fields: by its own name or by a prefix of it. */
export function isFieldSelected(fields: readonly string[], name: string): boolean {
  return fields.some((field) => name === field || name.startsWith(`${field}.`));
}

/** Without one member, or with it; prefixes are what they stand for. All of them is none, and the last one stays. */
export function toggleField(fields: readonly string[], name: string, all: readonly string[]): string[] {
  const before = fields.length === 0 ? all : all.filter((member) => isFieldSelected(fields, member));
  const after = before.includes(name) ? before.filter((member) => member !== name) : [...before, name];
  if (after.length === 0) return [...fields];
  return after.length === all.length ? [] : all.filter((member) => after.includes(member));
}

function sortedTypes(sources: Sources): string[] {
  return Object.keys(sources).toSorted();
}

export interface AuditedObject {
  /** What changes: `API key`. */
  object: string;
  /** Created, updated, deleted. */
  types: readonly { type: EventType; action: string }[];
}

export interface EventTypeGroups {
  traffic: readonly EventType[];
  /** What comes and goes by itself. */
  others: readonly EventType[];
  changes: readonly AuditedObject[];
}

const ACTIONS = ['created', 'updated', 'deleted'];
const CHANGE = /^(.+)_(created|updated|deleted)\.v\d+$/;

export function groupEventTypes(types: readonly EventType[]): EventTypeGroups {
  const audit = types.filter((type) => type.class === 'audit');
  const changes = new Map<string, { type: EventType; action: string }[]>();
  for (const type of audit) {
    const [, object = '', action = ''] = CHANGE.exec(type.name) ?? [];
    if (object) changes.set(object, [...(changes.get(object) ?? []), { type, action }]);
  }
  return {
    traffic: types.filter((type) => type.class === 'traffic'),
    others: audit.filter(({ name }) => !CHANGE.test(name)),
    changes: [...changes].map(([object, types]) => ({
      object: objectName(types[0]?.type) ?? object,
      types: types.toSorted((a, b) => ACTIONS.indexOf(a.action) - ACTIONS.indexOf(b.action)),
    })),
  };
}

/** What is created and so on, from what the catalogue says: `An API key was created.` */
function objectName(type: EventType | undefined): string | undefined {
  const [, object] = /^An? (.+) was \w+\.$/.exec(type?.description ?? '') ?? [];
  return object && object.charAt(0).toUpperCase() + object.slice(1);
}
