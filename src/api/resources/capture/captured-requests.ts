// Captured requests: looked at, watched, and sent once more.

import type { CaptureRef } from '../../../capture/cluster-captures.ts';
import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { mutation } from '../../collections/mutation.ts';
import { registerResource } from '../../collections/nodes.ts';
import { type ConnectionPage, connectionOf, pageArguments, readPage } from '../../collections/page.ts';
import { whileAllowed } from '../../collections/watching.ts';
import type { Route } from '../../route.ts';
import { checkMayReadBodies } from './body-access.ts';
import {
  checkMayViewCapture,
  findCapturedRequests,
  mayViewRequest,
  requireCapturable,
  requireCapturedRequest,
} from './capture-access.ts';
import { checkReplay } from './capture-input.ts';
import { CapturedBody, CapturedHeader, CapturedRequest, headersOf } from './captured-request-type.ts';
import { replay, type ShownReplay } from './replay.ts';
import { resetResponseBudget } from './response-budget.ts';
import { watchRequests } from './watch-requests.ts';

interface CapturedPage extends ConnectionPage {
  isPartial: boolean | null;
}

registerResource({
  kind: 'capturedRequest',
  prefix: 'cap',
  typeName: 'CapturedRequest',
  ref: CapturedRequest,
  find: findCapturedRequests,
});

const CapturedRequestConnection = connectionOf(CapturedRequest, 'CapturedRequest', { isInRest: false });

builder.objectField(CapturedRequestConnection, 'partial', (t) =>
  t.boolean({
    nullable: true,
    description:
      'Whether a node of the gateway did not answer within a second: what it has is missing. Null where the node that ' +
      'answers has no links to others, and tells of itself alone.',
    resolve: (page) => (page as CapturedPage).isPartial, // There are no other pages of it.
  }),
);

const Replay = builder.objectRef<ShownReplay>('Replay').implement({
  description: 'What became of a request that was sent once more.',
  fields: (t) => ({
    status: t.exposeInt('status', { description: 'The status of the answer.' }),
    durationMilliseconds: t.exposeFloat('durationMs', {
      description: 'How long it took, from the connection to the last of the answer.',
    }),
    headers: t.field({
      type: [CapturedHeader],
      description: 'The header fields of the answer.',
      resolve: ({ fields, redacted }, _, context) => headersOf(context, fields, redacted),
    }),
    body: t.field({
      type: CapturedBody,
      description: 'The body of the answer, up to 1 MiB; a longer one is cut there.',
      resolve: ({ body, fields }) => ({ body, fields }),
    }),
    captured: t.field({
      type: CapturedRequest,
      nullable: true,
      description: 'The replay itself as it was captured; null when captures are off now.',
      resolve: ({ captured }) => captured ?? null,
    }),
  }),
});

const CapturedHeaderInput = builder.inputType('CapturedHeaderInput', {
  description: 'A header field of a replay.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the header, in any case of letters.' }),
    value: t.string({
      description:
        'Its value, one line. Null, or left out: what was captured, also when it is redacted; where the request had ' +
        'several fields of the name, what the first one had for the first one here, and so on.',
    }),
  }),
});

const ReplayRequestInput = builder.inputType('ReplayRequestInput', {
  description: 'What is to be different from what was captured; what is left out or null is as it was.',
  fields: (t) => ({
    method: t.string({ description: 'The method.' }),
    path: t.string({ description: 'The path with the query, as `/path?q=1`.' }),
    headers: t.field({
      type: [CapturedHeaderInput],
      description:
        'All header fields, in place of those that the request had. Host is always as it was; those of one hop, those ' +
        'that say what way the request took, and the length of the body are made anew.',
    }),
    bodyBase64: t.string({
      description:
        'The body, in Base64; `""` for none. Requests to this API have at most 64 KiB, with all that is in them.',
    }),
  }),
});

builder.queryField('capturedRequest', (t) =>
  t.field({
    type: CapturedRequest,
    nullable: true,
    access: { kind: null },
    description:
      'The captured request with this id. Fails with `NOT_FOUND` when no node of the gateway that answers has it, ' +
      'or has it no more, and with `FORBIDDEN` when it is in a capture that `mayLook` is false of.',
    args: { id: t.arg.id({ required: true, description: 'The id of the captured request: `cap_…`.' }) },
    resolve: (_, { id }, context) => requireCapturedRequest(context, id),
  }),
);

builder.queryField('capturedRequests', (t) =>
  t.field({
    type: CapturedRequestConnection,
    nullable: true,
    access: { kind: null },
    description:
      'The requests to the address of an endpoint that were captured and are still kept, the newest first, at all nodes of the ' +
      'gateway. What was kept by a node that was restarted since is gone. Of what somebody else switched on, the owner of the ' +
      'credential of the endpoint’s agent sees what came to that agent. Fails as `trafficCapture` does, and with `FORBIDDEN` ' +
      'where its `mayLook` is false.',
    args: {
      endpointId: t.arg.id({
        required: true,
        description: 'The id of the endpoint: `ep_…`, or `oep_…` of one that is offline.',
      }),
      ...pageArguments,
    },
    resolve: async (_, { endpointId, ...page }, context) => {
      const target = await requireCapturable(context, endpointId);
      const { clusterCaptures } = context.app.nodeCaptures();
      const { requests, heldBy, isPartial } = await clusterCaptures.look(target);
      checkMayViewCapture(context, target, heldBy);
      const all = requests.filter((request) =>
        heldBy.every((each) => mayViewRequest(context, target, { ...request, heldBy: each })),
      );
      const result = await readPage(
        page,
        { prefix: 'cap', path: '' },
        async ({ where: { id: beyond = {} }, orderBy, take }) => {
          const { lt, gt } = beyond;
          const rest = all.filter(({ id }) => (lt === undefined || id < lt) && (gt === undefined || id > gt));
          return (orderBy[0]?.id === 'asc' ? rest.reverse() : rest).slice(0, take);
        },
        async () => all.length,
      );
      // What was pushed out since the list was made is not there.
      return { ...result, rows: await clusterCaptures.read(result.rows as typeof all), isPartial };
    },
  }),
);

mutation('replayRequest', { gives: ['replay', 'What came of it.'] }, (t) =>
  t.field({
    type: Replay,
    nullable: true,
    access: { kind: null },
    callsExternalService: true,
    weight: FEW_PER_DOCUMENT,
    description:
      'Sends a captured request once more, as it was or edited, to the public listener of this node of the gateway: all ' +
      'modules act on it as on a visitor’s, which comes from the gateway’s own address. Whoever may do this can send the ' +
      'redacted values of the request on to the service, at any path. It needs the right to read captured bodies. It goes over HTTP/1.1, and answers within 30 s.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the captured request: `cap_…`.' }),
      input: t.arg({ type: ReplayRequestInput, description: 'What is to be different.' }),
    },
    resolve: async (_, { id, input }, context) => {
      const edits = checkReplay(input ?? {});
      await checkMayReadBodies(context);
      return replay(context, await requireCapturedRequest(context, id), edits);
    },
  }),
);

builder.subscriptionField('requestCaptured', (t) =>
  t.field({
    type: CapturedRequest,
    access: { kind: null },
    description:
      'Tells of each request to the address of an endpoint as it is captured, once it is over; also when capturing begins only ' +
      'later, and when another agent serves the address by then. ' +
      'The oldest are left out where the reader is slow: 100 may wait. Fails as `capturedRequests` does; what somebody else ' +
      'switches on later is left out where `mayLook` is false.',
    args: {
      endpointId: t.arg.id({
        required: true,
        description: 'The id of the endpoint: `ep_…`, or `oep_…` of one that is offline.',
      }),
    },
    subscribe: async (_, { endpointId }, context) => {
      const target = await requireCapturable(context, endpointId);
      const { clusterCaptures } = context.app.nodeCaptures();
      checkMayViewCapture(context, target, (await clusterCaptures.look(target)).heldBy);
      const mayLook = (ref: CaptureRef) => mayViewRequest(context, target, ref);
      return whileAllowed(context, (signal) => watchRequests(clusterCaptures, target, mayLook, signal));
    },
    resolve: (captured, _, context) => {
      resetResponseBudget(context);
      return captured;
    },
  }),
);

/** There is no REST path for them. */
export const routes: Route[] = [];
