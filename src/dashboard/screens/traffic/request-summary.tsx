import { pathTo } from '../../data/routing/paths.ts';
import { Note } from '../../ui/feedback/note.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { curlOf, type Request } from './captured-request.ts';

export function RequestSummary({ request, endpointId }: { request: Request; endpointId: string }) {
  const { refusal, replayOf, operationId, status, isComplete } = request;
  return (
    <>
      {refusal && (
        <Note variant="warn">
          <p>
            The gateway itself answered (<code>{refusal.module}</code>): <strong>{refusal.reason}</strong>
          </p>
        </Note>
      )}
      {!isComplete && status !== null && <Note variant="warn">The answer was cut off before its end.</Note>}
      <DescriptionList
        items={[
          { name: 'URL', value: <CopyButton text={request.url} label="the URL" /> },
          {
            name: 'As a command',
            value: <CopyButton text={curlOf(request)} label="the request as cURL" showsText={false} />,
          },
          { name: 'When', value: <RelativeTime at={request.startedAt} /> },
          { name: 'Took', value: <Milliseconds value={request.durationMilliseconds} /> },
          { name: 'Visitor', value: request.clientIp },
          { name: 'Came over', value: `${request.httpVersion}, ${request.isTls ? 'TLS' : 'without TLS'}` },
          replayOf !== null && {
            name: 'Replay of',
            value: <a href={pathTo('traffic', endpointId, replayOf)}>{replayOf}</a>,
          },
          operationId !== null && {
            name: 'Shown to the visitor',
            value: <CopyButton text={operationId} label="the operation id" />,
          },
        ]}
      />
    </>
  );
}
