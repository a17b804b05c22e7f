// A test of an edge by the gateway itself, and what came of it.

import { useState } from 'preact/hooks';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { TestEdge, type TestEdgeMutation } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Note } from '../../../ui/feedback/note.tsx';
import { CodeBlock } from '../../../ui/text/code-block.tsx';

type Result = NonNullable<TestEdgeMutation['testEdge']>['test'];

/** The tests of an edge; the last result stays while another test is under way. */
export function useEdgeTest(id: string) {
  const [result, setResult] = useState<Result>();
  const { mutate, error, isBusy } = useMutation(TestEdge);
  async function run() {
    const tested = (await mutate({ id }))?.testEdge?.test;
    setResult(tested ?? undefined);
  }
  return { result, run, error, isBusy };
}

interface TestRequestProps {
  test: ReturnType<typeof useEdgeTest>;
  isHttp: boolean;
  url: string;
}

export function TestRequest({ test: { result, run, error, isBusy }, isHttp, url }: TestRequestProps) {
  return (
    <>
      <p>
        {isHttp
          ? 'The gateway sends one request through the edge, as a visitor would, whatever DNS says.'
          : 'The gateway makes one TLS handshake through the edge, as a visitor would, whatever DNS says.'}
      </p>
      <Button onClick={() => void run()} isBusy={isBusy}>
        {result ? 'Test it again' : 'Test it'}
      </Button>
      <ErrorNote error={error} />
      <div role="status">{result && <Outcome result={result} isHttp={isHttp} />}</div>
      {result?.ok && isHttp && <CodeBlock code={`curl ${url}`} label="the command" />}
    </>
  );
}

function Outcome({ result, isHttp }: { result: Result; isHttp: boolean }) {
  const { ok, host, status, durationMs, errorCode, reason } = result;
  const time = `${Math.round(durationMs)} ms`;
  if (ok)
    return (
      <p>
        <strong>{host} answered</strong> {isHttp ? `with ${status} after ${time}.` : `: the handshake took ${time}.`}
      </p>
    );
  return (
    <Note variant="warn">
      <p>
        <strong>{status === null ? 'Nobody answered' : `The answer was ${status}`}</strong>, after {time}
        {errorCode && `, from the gateway itself (${errorCode})`}.
      </p>
      {reason && <p>{reason}</p>}
    </Note>
  );
}
