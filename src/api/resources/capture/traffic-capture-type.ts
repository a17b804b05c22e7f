// What GraphQL shows of the capture at an address.

import type { CaptureState } from '../../../capture/captures.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/nodes.ts';
import { reference, typeOfKind, WHEN_GONE } from '../../collections/references.ts';
import { Owner } from '../accounts/owner.ts';

/** `OFF`; `WAITING` while nothing serves the address; `RECORDING`. */
export type ShownState = 'OFF' | 'WAITING' | 'RECORDING';

export interface ShownCapture extends Omit<CaptureState, 'isOn' | 'since'> {
  endpointId: string;
  state: ShownState;
  isPartial: boolean | null;
  mayLook: boolean;
  /** Null when it is off, as `startedAt` and `startedBy`. */
  id: string | null;
  startedAt: Date | null;
  startedBy: string | null;
  recordedSince: Date | null;
}

export const TrafficCaptureState = builder.enumType('TrafficCaptureState', {
  description: 'Whether requests are captured.',
  values: {
    OFF: { description: 'Requests are not captured.' },
    WAITING: { description: 'Requests are captured as soon as the address is online again.' },
    RECORDING: { description: 'Requests are captured.' },
  } as const,
});

export const TrafficCapture = builder.objectRef<ShownCapture>('TrafficCapture').implement({
  description:
    'Whether the requests to an address are captured, to be looked at one by one. That it is on is stored: it goes on when ' +
    'the agent or the gateway is restarted, until its end or until somebody stops it, or the user who started it is ' +
    'deactivated or deleted. The requests themselves are kept in the memory of the node of the gateway that they came to, and ' +
    'are gone when that is restarted; whichever node is asked answers for all. At each node the newest 200 of an address are ' +
    'kept, up to 8 MiB, and of all addresses together up to 64 MiB, which accounts share fairly.',
  fields: (t) => ({
    running: t.field({
      type: typeOfKind('trafficCapture'),
      nullable: true,
      description: 'The capture that is on, among `runningCaptures`; null when it is off.',
      resolve: reference(({ id }) => id),
    }),
    endpointId: t.exposeID('endpointId', { description: 'The id of the endpoint that was asked for.' }),
    endpoint: t.field({
      type: Node,
      nullable: true,
      description: `The endpoint that was asked for, an \`Endpoint\` or an \`OfflineEndpoint\`. ${WHEN_GONE}`,
      resolve: reference(({ endpointId }) => endpointId),
    }),
    mayLook: t.exposeBoolean('mayLook', {
      description:
        'Whether you may look at its requests, send them again, and change it: as an admin, when you switched it on, when ' +
        'you own the credential that the endpoint’s agent is connected with, or as long as it is off and nothing is kept.',
    }),
    isOn: t.boolean({
      description: 'Whether requests are captured now, or as soon as the address is online: see `state`.',
      resolve: ({ state }) => state !== 'OFF',
    }),
    state: t.expose('state', { type: TrafficCaptureState, description: 'Whether requests are captured now.' }),
    startedAt: t.expose('startedAt', {
      type: 'Timestamp',
      nullable: true,
      description: 'When it was switched on; null when it is off.',
    }),
    starter: t.field({
      type: Owner,
      nullable: true,
      description: `The user or bot user who switched it on, or changed its settings last; null when it is off. ${WHEN_GONE}`,
      resolve: reference(({ startedBy }) => startedBy),
    }),
    startedBy: t.exposeID('startedBy', {
      nullable: true,
      description:
        'The id of the user or bot user who switched it on, or changed its settings last; null when it is off. It ends when ' +
        'that one is deactivated or deleted.',
    }),
    recordedSince: t.expose('recordedSince', {
      type: 'Timestamp',
      nullable: true,
      description:
        'Since when all that is counted here is complete: when it was switched on, or later, when a node of the gateway was ' +
        'started. What that node had captured before is gone. Null when no node has captured anything.',
    }),
    bodyBytes: t.exposeInt('bodyBytes', { description: 'How many bytes of each body are kept; 0: none.' }),
    redactedHeaders: t.stringList({
      description:
        'The names of header fields, in lower case, whose values are never shown; `authorization`, ' +
        '`proxy-authorization`, `cookie`, `set-cookie` and `x-api-key` always are among them.',
      resolve: ({ redacted }) => [...redacted],
    }),
    kept: t.exposeInt('kept', { description: 'How many requests can be looked at.' }),
    keptBytes: t.exposeFloat('keptBytes', { description: 'How much memory they take, about.' }),
    passed: t.exposeFloat('passed', {
      description: 'How many requests to the address were over since it was switched on, at nodes that are up since.',
    }),
    forgotten: t.exposeFloat('forgotten', {
      description: 'How many of them were kept, and had to go for newer ones.',
    }),
    partial: t.exposeBoolean('isPartial', {
      nullable: true,
      description:
        'Whether a node of the gateway did not answer within a second: what it has is missing. Null where the node that ' +
        'answers has no links to others, and tells of itself alone.',
    }),
    endsAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'When it switches itself off; null when it is off.',
      resolve: ({ state, endsAt }) => (state === 'OFF' ? null : new Date(endsAt)),
    }),
  }),
});
