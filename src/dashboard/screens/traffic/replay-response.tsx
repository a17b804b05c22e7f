import { pathTo } from '../../data/routing/paths.ts';
import type { ReplayRequestMutation } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { StatusTag } from '../../ui/feedback/status-tag.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { Body } from './body.tsx';
import type { Request } from './captured-request.ts';
import { Headers } from './headers.tsx';

export interface ReplayResponseProps {
  replay: NonNullable<ReplayRequestMutation['replayRequest']>['replay'];
  /** The original request. */
  request: Request;
  isEdited: boolean;
  endpointId: string;
  onClose: () => void;
}

/** The response to a replay, shown beside the original response. */
export function ReplayResponse({ replay, request, isEdited, endpointId, onClose }: ReplayResponseProps) {
  const { status, durationMilliseconds, headers, body, captured } = replay;
  return (
    <Section
      title={isEdited ? 'Answer to the edited replay' : 'Answer now'}
      actions={
        <>
          <StatusTag status={status} />
          <Button variant="plain" onClick={onClose}>
            Close
          </Button>
        </>
      }
    >
      <p class="muted">
        <Milliseconds value={durationMilliseconds} />, {differences(replay, request)}
        {captured && (
          <>
            {' · '}
            <a href={pathTo('traffic', endpointId, captured.id)}>the replay itself</a>
          </>
        )}
      </p>
      <Headers label="Headers of the answer to the replay" headers={headers} />
      <Body body={body} base64={body.base64} headers={headers} />
    </Section>
  );
}

function differences(
  { status, body }: ReplayResponseProps['replay'],
  { status: originalStatus, responseBody }: Request,
): string {
  const isSameStatus = status === originalStatus;
  if (!body.isWhole || !responseBody.isWhole || body.text === null || responseBody.text === null) {
    return isSameStatus ? 'the same status' : 'another status';
  }
  const isSameBody = body.text === responseBody.text;
  if (isSameStatus && isSameBody) return 'the same status and body';
  if (isSameStatus) return 'the same status, another body';
  return isSameBody ? 'another status, the same body' : 'another status and body';
}
