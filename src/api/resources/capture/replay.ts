// Sending a captured request once more, for the API.

import type { RequestCapture } from '../../../capture/captured-request.ts';
import { REPLAY_TIMEOUT_MS, REPLAYS_MAX, type ReplayFailure, type ReplayResponse } from '../../../capture/replay.ts';
import type { ReplayEdits } from '../../../capture/replay-head.ts';
import type { Context, RecordedAct } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

/** What was answered, and which of it is not shown. */
export type ShownReplay = ReplayResponse & Pick<RequestCapture, 'redacted'>;

/** @throws {ApiError} why it was not sent, or got no answer. */
export async function replay(context: Context, captured: RequestCapture, edits: ReplayEdits): Promise<ShownReplay> {
  const { clusterCaptures, replays } = context.app.nodeCaptures();
  const answer = await replays.send(captured, edits);
  await context.record(replayOf(captured, edits, answer));
  if ('failed' in answer) throw errorOf(answer, edits);
  // Also what is not to be shown now: the answer may have fields that the captured one had not.
  const now = (await clusterCaptures.look(captured)).state.redacted;
  return { ...answer, redacted: new Set([...captured.redacted, ...(answer.captured?.redacted ?? []), ...now]) };
}

/** What the audit trail says of it: no query and no value of a field, which may be secret. */
function replayOf(captured: RequestCapture, edits: ReplayEdits, answer: ReplayResponse | ReplayFailure): RecordedAct {
  const { endpointId, id, host, method, target } = captured;
  const after = {
    captured_request_id: id,
    ...{ method: edits.method ?? method, host, path: (edits.path ?? target).replace(/\?.*/s, '') },
    edited: Object.keys(edits).filter((name) => edits[name as keyof ReplayEdits] !== undefined),
    outcome: 'failed' in answer ? answer.failed : answer.status,
  };
  return { action: 'REQUEST_REPLAYED', kind: 'endpoint', objectId: endpointId, objectName: host, after };
}

function errorOf(failure: ReplayFailure, { fields = [] }: ReplayEdits): ApiError {
  switch (failure.failed) {
    case 'gone':
      return new ApiError('notFound', { kind: 'endpoint' });
    case 'bodyMissing':
      return new ApiError('replayBodyMissing');
    case 'upgraded':
      return new ApiError('replayUpgraded');
    case 'clientCertificate':
      return new ApiError('replayClientCertificate');
    case 'tooMany':
      return new ApiError('tooManyReplays', { max: REPLAYS_MAX });
    case 'timeout':
      return new ApiError('replayTimeout', { seconds: REPLAY_TIMEOUT_MS / 1000 });
    case 'noAnswer':
      return new ApiError('replayNoAnswer', { reason: failure.reason });
    case 'fieldMissing': {
      const index = fields.findLastIndex(([name, value]) => name === failure.name && value === null);
      return new ApiError('replayHeaderNotCaptured', { member: `headers[${index}]`, name: failure.name });
    }
  }
}
