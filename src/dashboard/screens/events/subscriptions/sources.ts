// The sources of a subscription as its form holds them.

import type {
  EventCatalogueQuery,
  EventSourceInput,
  EventSubscriptionFactsFragment,
} from '../../../generated/operations.ts';

export type EventType = EventCatalogueQuery['eventTypes'][number];

/** Which events of one type are delivered, and which of their fields. */
export interface Source {
  /** The fields to deliver; empty for all. A prefix stands for all fields below it. */
  fields: readonly string[];
  filter: string;
  /** The share in percent; null while the input is empty. */
  share: number | null;
}

/** The sources by type of event. */
export type Sources = Readonly<Record<string, Source>>;

const DEFAULT_SOURCE: Source = { fields: [], filter: '', share: 100 };
const PERCENT = 100;
/** Rounds away floating-point errors: 0.07 × 100 is not exactly 7. */
const DIGITS = 10;

export function sourcesOfSubscription(subscription?: EventSubscriptionFactsFragment): Sources {
  const sources = subscription?.sources ?? [];
  return sorted(
    sources.map(({ type, fields, filter, sampleRate }) => [
      type,
      { fields, filter, share: Number((sampleRate * PERCENT).toPrecision(DIGITS)) },
    ]),
  );
}

/** The types, with what is particular about them. */
export function sourcesInWords(sources: Sources): string {
  return sortedTypes(sources)
    .map((type) => {
      const { fields, filter, share } = sources[type] ?? DEFAULT_SOURCE;
      const parts = [fields.length > 0 && `${fields.length} fields`, filter, share !== PERCENT && `${share} %`];
      return [type, ...parts.filter(Boolean)].join(', ');
    })
    .join('\n');
}

/** In alphabetical order. The errors of the API name a source by its position. */
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

/** The name of a source's member in the errors of the API. */
export function sourceFieldName(sources: Sources, type: string, member: 'fields' | 'filter' | 'sampleRate'): string {
  return `sources[${sortedTypes(sources).indexOf(type)}].${member}`;
}

export function withTypesSelected(sources: Sources, types: readonly string[], isChosen: boolean): Sources {
  const others = Object.entries(sources).filter(([type]) => !types.includes(type));
  const added = isChosen ? types.map((type) => [type, sources[type] ?? DEFAULT_SOURCE] as const) : [];
  return sorted([...others, ...added]);
}

/** Whether a field is selected, by its own name or by a prefix. */
export function isFieldSelected(fields: readonly string[], name: string): boolean {
  return fields.some((field) => name === field || name.startsWith(`${field}.`));
}

/** Selects or deselects a field. All fields are stored as an empty list, and the last field stays selected. */
export function toggleField(fields: readonly string[], name: string, all: readonly string[]): string[] {
  const before = fields.length === 0 ? all : all.filter((member) => isFieldSelected(fields, member));
  const after = before.includes(name) ? before.filter((member) => member !== name) : [...before, name];
  if (after.length === 0) return [...fields];
  return after.length === all.length ? [] : all.filter((member) => after.includes(member));
}

/** A fixed order, so that the same sources are equal. */
function sorted(sources: readonly (readonly [string, Source])[]): Sources {
  return Object.fromEntries(sources.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function sortedTypes(sources: Sources): string[] {
  return Object.keys(sources).toSorted();
}

export interface AuditedObject {
  /** The name of the object: `API key`. */
  object: string;
  /** The types of events for created, updated and deleted objects. */
  types: readonly { type: EventType; action: string }[];
}

export interface EventTypeGroups {
  traffic: readonly EventType[];
  /** Audit events that are not changes of an object, for example connections of agents. */
  others: readonly EventType[];
  changes: readonly AuditedObject[];
}

const ACTIONS = ['created', 'updated', 'deleted'];
const CHANGE = /^(.+)_(created|updated|deleted)\.v\d+$/;

export function groupEventTypes(types: readonly EventType[]): EventTypeGroups {
  const audit = types.filter((type) => type.class === 'AUDIT');
  const changes = new Map<string, { type: EventType; action: string }[]>();
  for (const type of audit) {
    const [, object = '', action = ''] = CHANGE.exec(type.name) ?? [];
    if (object) changes.set(object, [...(changes.get(object) ?? []), { type, action }]);
  }
  return {
    traffic: types.filter((type) => type.class === 'TRAFFIC'),
    others: audit.filter(({ name }) => !CHANGE.test(name)),
    changes: [...changes].map(([object, types]) => ({
      object: objectName(types[0]?.type) ?? object,
      types: types.toSorted((a, b) => ACTIONS.indexOf(a.action) - ACTIONS.indexOf(b.action)),
    })),
  };
}

/** The name of the object in the description of an event type: `An API key was created.` */
function objectName(type: EventType | undefined): string | undefined {
  const [, object] = /^An? (.+) was \w+\.$/.exec(type?.description ?? '') ?? [];
  return object && object.charAt(0).toUpperCase() + object.slice(1);
}
