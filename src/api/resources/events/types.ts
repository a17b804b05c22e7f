// The types of event, and what the objects of traffic events have. Only GraphQL shows them.

import { type TrafficField as Field, isTrafficEvent } from '../../../events/traffic/fields.ts';
import { trafficObjects } from '../../../events/traffic/gateway-objects.ts';
import type { EventTypeEntry as Type } from '../../../events/types.ts';
import { builder } from '../../builder/builder.ts';
import type { Route } from '../../route.ts';
import { eventTypes } from './catalog.ts';

const EventClass = builder.enumType('EventClass', {
  description: 'What an event is about.',
  values: {
    AUDIT: { value: 'audit', description: 'Who changed what, and what came and went.' },
    TRAFFIC: { value: 'traffic', description: 'Single requests and connections.' },
  } as const,
});

const EventFieldType = builder.enumType('EventFieldType', {
  description: 'What a member of the object of a traffic event holds.',
  values: {
    STRING: { value: 'string', description: 'A text of any length.' },
    NUMBER: { value: 'number', description: 'A number, whole or not.' },
    BOOLEAN: { value: 'boolean', description: 'True or false.' },
    TIMESTAMP: { value: 'timestamp', description: 'A text: RFC 3339 in UTC.' },
    HEADERS: { value: 'headers', description: 'An object: names in lower case, each with the list of its values.' },
    LIST: { value: 'list', description: 'A list of objects.' },
  } as const,
});

const EventField = builder.objectRef<Field>('EventField').implement({
  description: 'A member of the object of a traffic event.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its path in the object, as `http.request.method`.' }),
    type: t.expose('type', { type: EventFieldType, description: 'What it holds.' }),
    description: t.exposeString('description', { description: 'What it says.' }),
  }),
});

const EventType = builder.objectRef<Type>('EventType').implement({
  description: 'A type of event that subscriptions can deliver.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, with its version: `domain_created.v0`.' }),
    class: t.expose('class', { type: EventClass, description: 'What it is about.' }),
    description: t.exposeString('description', { description: 'When such an event is made.' }),
    fields: t.field({
      type: [EventField],
      description: 'Of traffic events: what their object has, and a source can select. Empty for audit events.',
      resolve: ({ name }) => (isTrafficEvent(name) ? [...trafficObjects[name].fields] : []),
    }),
  }),
});

builder.queryField('eventTypes', (t) =>
  t.field({
    type: [EventType],
    access: { kind: null },
    description: 'Every type of event that subscriptions can deliver, in alphabetical order.',
    resolve: () => eventTypes(),
  }),
);

export const routes: Route[] = [];
