// The catalogue of event types: those that every gateway has, and three for each audited resource.

import { type EventName, type EventTypeEntry, eventCatalog } from '../../../events/types.ts';
import { auditedResources } from '../../collections/nodes.ts';

/** Every type of event that a subscription can deliver, in alphabetical order. Complete once the schema is loaded. */
export function eventTypes(): EventTypeEntry[] {
  return eventCatalog(auditedResources().map(({ audit }) => audit));
}

export function isEventName(name: string): name is EventName {
  return eventTypes().some((type) => type.name === name);
}
