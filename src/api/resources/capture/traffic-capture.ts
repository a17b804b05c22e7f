// Switching on and off that the requests to an endpoint are captured.

import type { CaptureState } from '../../../capture/captures.ts';
import { builder } from '../../builder/builder.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { checkMayViewCapture, mayViewCapture, requireServedEndpoint } from './capture-access.ts';
import { checkCaptureSettings } from './capture-input.ts';

interface ShownCapture extends CaptureState {
  isPartial: boolean | null;
  mayLook: boolean;
}

const TrafficCapture = builder.objectRef<ShownCapture>('TrafficCapture').implement({
  description:
    'Whether the requests to an endpoint are captured, to be looked at one by one. They are kept in the memory of the ' +
    'node of the gateway that they came to, and end with it; whichever node is asked answers for all. At each node the ' +
    'newest 200 of an endpoint are kept, up to 8 MiB, and of all endpoints together up to 64 MiB, which accounts share fairly.',
  fields: (t) => ({
    endpointId: t.exposeID('endpointId', { description: 'The id of the endpoint: `ep_…`.' }),
    mayLook: t.exposeBoolean('mayLook', {
      description:
        'Whether you may look at its requests, send them again, and change it: as an admin, when you switched it on, when ' +
        'you own the credential that the endpoint’s agent is connected with, or as long as it is off and nothing is kept.',
    }),
    isOn: t.exposeBoolean('isOn', { description: 'Whether requests are captured now.' }),
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
      description: 'How many requests to the endpoint were over since it was switched on.',
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
      resolve: ({ isOn, endsAt }) => (isOn ? new Date(endsAt) : null),
    }),
  }),
});

const StartTrafficCaptureInput = builder.inputType('StartTrafficCaptureInput', {
  description: 'How to capture requests.',
  fields: (t) => ({
    bodyBytes: t.int({ defaultValue: 0, description: 'How many bytes of each body to keep, 0 to 1048576; 0: none.' }),
    redactHeaders: t.stringList({
      defaultValue: [],
      description: 'The names of further header fields whose values are never to be shown, in any case; at most 100.',
    }),
    minutes: t.int({ defaultValue: 60, description: 'After how many minutes it switches itself off, 1 to 1440.' }),
  }),
});

const ofEndpoint = builder.args((t) => ({
  endpointId: t.id({ required: true, description: 'The id of the endpoint: `ep_…`.' }),
}));

builder.queryField('trafficCapture', (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    description:
      'Whether the requests to an endpoint are captured. Fails with `NOT_FOUND` when your account has no such endpoint ' +
      'that is live, and with `UNAVAILABLE` when another node of the gateway serves it to which there is no link.',
    args: ofEndpoint,
    resolve: (_, { endpointId }, context) => captureOf(context, endpointId),
  }),
);

builder.mutationField('startTrafficCapture', (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    description:
      'Begins to capture the requests to an endpoint of http or https. What was kept of an earlier capture is thrown ' +
      'away; while one is on, its settings are changed and all is kept.',
    args: {
      ...ofEndpoint,
      input: t.arg({ type: StartTrafficCaptureInput, required: true, description: 'How to capture.' }),
    },
    resolve: (_, { endpointId, input }, context) => {
      const wish = checkCaptureSettings(input);
      return captureOf(context, endpointId, (proto) => {
        if (proto !== 'http' && proto !== 'https') throw new ApiError('captureNeedsHttp', { proto });
        return context.app.nodeCaptures().clusterCaptures.start(endpointId, context.caller, wish);
      });
    },
  }),
);

builder.mutationField('stopTrafficCapture', (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    description:
      'Captures no more requests to an endpoint. Those that are kept stay until they are cleared, it is switched on ' +
      'again, or the endpoint ends.',
    args: ofEndpoint,
    resolve: (_, { endpointId }, context) =>
      captureOf(context, endpointId, () => context.app.nodeCaptures().clusterCaptures.stop(endpointId)),
  }),
);

builder.mutationField('clearTrafficCapture', (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    description: 'Throws away the requests to an endpoint that are kept. Whether it is on stays as it is.',
    args: ofEndpoint,
    resolve: (_, { endpointId }, context) =>
      captureOf(context, endpointId, () => context.app.nodeCaptures().clusterCaptures.clear(endpointId)),
  }),
);

/** @param change what is to be done first. @throws {ApiError} when the account has no such endpoint here, or it is not the caller's to change. */
async function captureOf(
  context: Context,
  id: string,
  change?: (proto: string) => Promise<void>,
): Promise<ShownCapture> {
  const served = await requireServedEndpoint(context, id);
  const { clusterCaptures } = context.app.nodeCaptures();
  let capture = await clusterCaptures.look(id);
  if (change) {
    checkMayViewCapture(context, served, capture.heldBy);
    await change(served.proto);
    capture = await clusterCaptures.look(id);
  }
  const { state, isPartial, heldBy } = capture;
  return { ...state, isPartial, mayLook: mayViewCapture(context, served, heldBy) };
}

/** There is no REST path for them. */
export const routes: Route[] = [];
