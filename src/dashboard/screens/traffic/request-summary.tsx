import { pathOf } from '../../data/routing/paths.ts';
import { Note } from '../../ui/feedback/note.tsx';
import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import type { Request } from './captured-request.ts';

export function RequestFacts({ request, endpointId }: { request: Request; endpointId: string }) {
  const { refusal, replayOf, operationId, status, isComplete } = request;
  return (
    <>
      {refusal && (
        <Note look="warn">
          <p>
            The gateway itself answered (<code>{refusal.module}</code>): <strong>{refusal.reason}</strong>
          </p>
        </Note>
      )}
      {!isComplete && status !== null && <Note look="warn">The answer was cut off before its end.</Note>}
      <Facts
        facts={[
          { name: 'URL', value: <Copy text={request.url} what="the URL" /> },
          { name: 'When', value: <When at={request.startedAt} /> },
          { name: 'Took', value: <Milliseconds value={request.durationMilliseconds} /> },
          { name: 'Visitor', value: request.clientIp },
          { name: 'Came over', value: `${request.httpVersion}, ${request.isTls ? 'TLS' : 'without TLS'}` },
          replayOf !== null && {
            name: 'Replay of',
            value: <a href={pathOf('traffic', endpointId, replayOf)}>{replayOf}</a>,
          },
          operationId !== null && {
            name: 'Shown to the visitor',
            value: <Copy text={operationId} what="the operation id" />,
          },
        ]}
      />
    </>
  );
}
