// Switching on and off that the requests to an address are captured.

import { redactedNames } from '../../../capture/redaction.ts';
import { CAPTURES_MAX, startCapture, stopCapture } from '../../../store/captures/traffic-captures.ts';
import { builder } from '../../builder/builder.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context, RecordedAct } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { mayActFor } from '../accounts/owner.ts';
import { type Capturable, checkMayViewCapture, mayViewCapture, requireCapturable } from './capture-access.ts';
import { type CaptureOptions, checkCaptureSettings } from './capture-input.ts';
import { type ShownCapture, TrafficCapture } from './traffic-capture-type.ts';

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
  endpointId: t.id({
    required: true,
    description: 'The id of the endpoint: `ep_…`, or `oep_…` of an address that is offline.',
  }),
}));

builder.queryField('trafficCapture', (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    access: { kind: null },
    description:
      'Whether the requests to the address of an endpoint are captured. Fails with `NOT_FOUND` when your account has no such ' +
      'endpoint, live or offline, and with `UNAVAILABLE` when another node of the gateway serves it to which there is no link.',
    args: ofEndpoint,
    resolve: async (_, { endpointId }, context) => look(context, await requireCapturable(context, endpointId)),
  }),
);

mutation('startTrafficCapture', { gives: ['trafficCapture', 'The capture as it is now.'] }, (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    access: { kind: null },
    description:
      'Begins to capture the requests to the address of an endpoint of http or https, also of one that is offline: it waits ' +
      'then until the address is online. What was kept of an earlier capture is thrown away; while one is on, its settings ' +
      'are changed and all is kept. An account has at most 1,000 captures that are on.',
    args: {
      ...ofEndpoint,
      input: t.arg({ type: StartTrafficCaptureInput, required: true, description: 'How to capture.' }),
    },
    resolve: async (_, { endpointId, input }, context) => {
      const wish = checkCaptureSettings(input);
      return change(context, endpointId, (target) => start(context, target, wish));
    },
  }),
);

mutation('stopTrafficCapture', { gives: ['trafficCapture', 'The capture as it is now.'] }, (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    access: { kind: null },
    description:
      'Captures no more requests to the address of an endpoint. Those that are kept stay until they are cleared, it is ' +
      'switched on again, the address stays offline, or the gateway is restarted.',
    args: ofEndpoint,
    resolve: (_, { endpointId }, context) =>
      change(context, endpointId, (target) =>
        context.act(async (db, announce) => ({
          result: await stopCapture(db, announce, target),
          acts: [actOn(target, 'CAPTURE_STOPPED')],
        })),
      ),
  }),
);

mutation('clearTrafficCapture', { gives: ['trafficCapture', 'The capture as it is now.'] }, (t) =>
  t.field({
    type: TrafficCapture,
    nullable: true,
    access: { kind: null },
    description:
      'Throws away the requests to the address of an endpoint that are kept. Whether it is on stays as it is.',
    args: ofEndpoint,
    resolve: (_, { endpointId }, context) =>
      change(context, endpointId, async (target) => {
        await context.app.nodeCaptures().clusterCaptures.clear(target);
        await context.record(actOn(target, 'CAPTURE_CLEARED'));
        return undefined;
      }),
  }),
);

/** @returns the id of the capture. @throws {ApiError} when it cannot be captured, or it is not the caller's to change. */
async function start(context: Context, target: Capturable, wish: CaptureOptions): Promise<string> {
  const { proto, accountId, address, publicUrl } = target;
  if (proto !== 'http' && proto !== 'https') throw new ApiError('captureNeedsHttp', { proto });
  const { bodyBytes, redactHeaders, minutes } = wish;
  const { ownerId } = context.caller;
  const now = context.app.now();
  const capture = { accountId, address, publicUrl, ownerId, bodyBytes, redactHeaders, endsAt: now + minutes * 60_000 };
  const options = { now, mayChangeOthers: mayActFor(context, target.ownerId) };
  return context.act(async (db, announce) => {
    const started = await startCapture(db, announce, capture, options);
    if (started === 'notYours') throw new ApiError('notYourCapture');
    if (started === 'tooMany') throw new ApiError('tooManyCaptures', { max: CAPTURES_MAX });
    const after = { body_bytes: bodyBytes, redact_headers: redactHeaders, minutes };
    return { result: started.id, acts: [{ ...actOn(target, 'CAPTURE_STARTED'), after }] };
  });
}

function actOn({ id, kind, publicUrl }: Capturable, action: RecordedAct['action']): RecordedAct {
  return { action, kind, objectId: id, objectName: publicUrl };
}

/**
 * Changes a capture that is the caller's to change.
 * @param work gives the id of the stored capture that it has changed.
 */
async function change(
  context: Context,
  endpointId: string,
  work: (target: Capturable) => Promise<string | undefined>,
): Promise<ShownCapture> {
  const target = await requireCapturable(context, endpointId);
  const { clusterCaptures } = context.app.nodeCaptures();
  const [{ heldBy }, stored] = await Promise.all([clusterCaptures.look(target), findStored(context, target)]);
  checkMayViewCapture(context, target, stored ? [...heldBy, stored.ownerId] : heldBy);
  const changed = await work(target);
  if (changed !== undefined) await clusterCaptures.reload(changed);
  return look(context, target);
}

/** What is stored of a capture that is on; null when none is. */
function findStored({ db, app }: Context, { accountId, address }: Capturable) {
  return db.trafficCapture.findFirst({ where: { accountId, address, endsAt: { gt: new Date(app.now()) } } });
}

async function look(context: Context, target: Capturable): Promise<ShownCapture> {
  const { clusterCaptures } = context.app.nodeCaptures();
  const [{ state, isPartial, heldBy }, stored] = await Promise.all([
    clusterCaptures.look(target),
    findStored(context, target),
  ]);
  const { isOn: _, since, ...recorded } = state;
  const shown = {
    ...{ ...recorded, isPartial, endpointId: target.id },
    ...{ id: null, startedAt: null, startedBy: null, state: 'OFF' as const },
    recordedSince: since > 0 ? new Date(since) : null,
    mayLook: mayViewCapture(context, target, stored ? [...heldBy, stored.ownerId] : heldBy),
  };
  if (!stored) return shown;
  const { id, ownerId: startedBy, createdAt: startedAt, bodyBytes, redactHeaders, endsAt } = stored;
  return {
    ...{ ...shown, id, startedBy, startedAt, bodyBytes, endsAt: endsAt.getTime() },
    redacted: new Set([...recorded.redacted, ...redactedNames(redactHeaders)]),
    state: target.kind === 'endpoint' ? 'RECORDING' : 'WAITING',
  };
}

/** There is no REST path for them. */
export const routes: Route[] = [];
