import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { mayReadBodies } from '../../data/session/session.ts';
import { CapturedBytes, CapturedRequest, ReplayRequest, type ReplayRequestInput } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StatusTag } from '../../ui/feedback/status-tag.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { TryOnCaptured } from '../edges/modules/policy/try-on-captured.tsx';
import { Body } from './body.tsx';
import type { Request } from './captured-request.ts';
import { Headers } from './headers.tsx';
import { ReplayForm } from './replay-form.tsx';
import { ReplayResponse, type ReplayResponseProps } from './replay-response.tsx';
import { RequestSummary } from './request-summary.tsx';

const MAX_TITLE_LENGTH = 80;

/** The page of a captured request with its response, which can replay it. */
export function RequestPage() {
  const endpointId = useParam('endpointId');
  const id = useParam('requestId');
  const { data, error, refetch } = useQuery(CapturedRequest, { id, bodies: mayReadBodies() });
  const request = data?.capturedRequest;
  const crumbs = [
    { title: 'Traffic', href: pathTo('traffic') },
    { title: 'Requests', href: pathTo('traffic', endpointId) },
  ];
  if (request) return <RequestView key={id} request={request} endpointId={endpointId} crumbs={crumbs} />;
  return (
    <Page title="Request" crumbs={crumbs}>
      {error?.code === 'NOT_FOUND' ? (
        <EmptyState
          title="This request isn’t kept any more"
          action={<LinkButton href={pathTo('traffic', endpointId)}>All that are kept</LinkButton>}
        >
          Newer ones took its place, it was cleared, the gateway was restarted, or its{' '}
          <a href={objectPath('endpoint', endpointId)}>endpoint</a> stayed offline.
        </EmptyState>
      ) : error ? (
        <ErrorNote error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

interface RequestViewProps {
  request: Request;
  endpointId: string;
  crumbs: { title: string; href: string }[];
}

function RequestView({ request, endpointId, crumbs }: RequestViewProps) {
  const { id, method, path, status } = request;
  const [isEditing, setEditing] = useState(false);
  const [isEdited, setEdited] = useState(false);
  const [replay, setReplay] = useState<ReplayResponseProps['replay']>();
  const send = useMutation(ReplayRequest);
  const binaryBodies = useBinaryBodies(request);

  async function sendReplay(input: ReplayRequestInput | undefined) {
    const result = (await send.mutate({ id, input }))?.replayRequest?.replay;
    if (!result) return;
    setReplay(result);
    setEdited(input !== undefined);
    setEditing(false);
    toast(`Replayed: ${result.status}.`);
  }
  return (
    <Page
      title={`${method} ${shortenPath(path)}`}
      badge={<StatusTag status={status} />}
      crumbs={crumbs}
      actions={
        mayReadBodies() && (
          <>
            <Button variant="primary" isBusy={send.isBusy && !isEditing} onClick={() => void sendReplay(undefined)}>
              Replay
            </Button>
            <Button onClick={() => setEditing(!isEditing)}>{isEditing ? 'Don’t edit' : 'Edit and replay'}</Button>
          </>
        )
      }
    >
      {!isEditing && <ErrorNote error={send.error} />}
      {!mayReadBodies() && <HiddenBodies />}
      <RequestSummary request={request} endpointId={endpointId} />
      {isEditing && (
        <Section title="Edit and replay" lead="It goes through the gateway once more, as a visitor’s request would.">
          <ReplayForm
            request={request}
            error={send.error}
            isBusy={send.isBusy}
            onSend={(input) => void sendReplay(input)}
            onCancel={() => setEditing(false)}
          />
        </Section>
      )}
      <TryOnCaptured endpointId={request.endpointId} requestId={id} />
      <div class="captured-pair">
        {!replay && <RequestSection request={request} base64={binaryBodies.request} />}
        <ResponseSection request={request} base64={binaryBodies.response} isBefore={replay !== undefined} />
        {replay && (
          <ReplayResponse
            replay={replay}
            request={request}
            isEdited={isEdited}
            endpointId={endpointId}
            onClose={() => setReplay(undefined)}
          />
        )}
        {replay && <RequestSection request={request} base64={binaryBodies.request} />}
      </div>
    </Page>
  );
}

/** Says why there are no bodies, and whom to ask. */
function HiddenBodies() {
  return (
    <Note>
      <p>
        Bodies may hold secrets of visitors, so they are hidden from you, and you can’t replay the request. An admin of
        your account can give you the right to read captured bodies, on your page below Access.
      </p>
    </Note>
  );
}

interface PartProps {
  request: Request;
  base64: string | null | undefined;
}

function RequestSection({ request: { requestHeaders, requestBody }, base64 }: PartProps) {
  return (
    <Section title="Request">
      <Headers label="Headers of the request" headers={requestHeaders} />
      <Body body={requestBody} base64={base64} headers={requestHeaders} />
    </Section>
  );
}

function ResponseSection({ request, base64, isBefore }: PartProps & { isBefore: boolean }) {
  const { status, responseHeaders, responseBody, durationMilliseconds } = request;
  return (
    <Section title={isBefore ? 'Answer then' : 'Answer'} actions={<StatusTag status={status} />}>
      {isBefore && (
        <p class="muted">
          <Milliseconds value={durationMilliseconds} />
        </p>
      )}
      {status === null ? (
        <p class="muted">The visitor got none.</p>
      ) : (
        <>
          <Headers label="Headers of the answer" headers={responseHeaders} />
          <Body body={responseBody} base64={base64} headers={responseHeaders} />
        </>
      )}
    </Section>
  );
}

/** The path for the title, without the query, which may be long. */
function shortenPath(path: string): string {
  const [before = ''] = path.split('?');
  return before.length > MAX_TITLE_LENGTH ? `${before.slice(0, MAX_TITLE_LENGTH)}…` : before;
}

/** Loads the bytes of the bodies that are not text. */
function useBinaryBodies({ id, requestBody, responseBody }: Request) {
  const request = requestBody.text === null && requestBody.keptBytes > 0;
  const response = responseBody.text === null && responseBody.keptBytes > 0;
  const { data } = useQuery(CapturedBytes, { id, request, response }, { skip: !request && !response });
  return {
    request: data?.capturedRequest?.requestBody?.base64,
    response: data?.capturedRequest?.responseBody?.base64,
  };
}
