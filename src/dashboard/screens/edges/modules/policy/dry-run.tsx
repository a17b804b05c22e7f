// Dry runs of a policy with a request that is not sent.

import { useState } from 'preact/hooks';
import { ApiFailure, execute, toApiFailure } from '../../../../data/client/client.ts';
import { TryPolicy, type TryPolicyQuery } from '../../../../generated/operations.ts';
import { Button } from '../../../../ui/button.tsx';
import { ErrorNote } from '../../../../ui/feedback/error-note.tsx';
import { Note } from '../../../../ui/feedback/note.tsx';
import { announce } from '../../../../ui/feedback/toast.tsx';
import { CheckField } from '../../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../../ui/forms/form.tsx';
import { KeyValueField, type KeyValuePair, nonEmptyPairs } from '../../../../ui/forms/key-value-field.tsx';
import { NumberField } from '../../../../ui/forms/number-field.tsx';
import { TextArea, TextField } from '../../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../../ui/forms/use-form-fields.ts';
import { validateUrl } from '../../../../ui/forms/validators.ts';
import { Section } from '../../../../ui/layout/page.tsx';
import type { ModulePanelProps } from '../module-form.ts';
import { Explanation } from './explanation.tsx';
import { type PolicyHost, policyHost } from './policy-host.ts';
import { SamplePicker } from './sample-picker.tsx';
import { useCapturedSample } from './use-captured-sample.ts';

interface DryRunProps {
  /** The document that is in the form now. @throws ApiFailure */
  document: () => string;
  /** All that makes the document, whether or not it can be read. */
  text: string;
  host: PolicyHost;
}

type Evaluation = NonNullable<TryPolicyQuery['evaluatePolicy']>;

const URL_LABELS = { HTTPS: 'URL', TLS: 'Name visited, as a URL', TCP: 'Address visited, as a URL' } as const;

const NONE: readonly KeyValuePair[] = [];

export function DryRun({ document, text, host }: DryRunProps) {
  const { proto, endpoints } = host;
  const isHttp = proto === 'HTTPS';
  const fields = useFormFields({
    method: 'GET',
    url: host.exampleUrl,
    headers: NONE,
    body: '',
    clientIp: '192.0.2.1',
    isAnswered: false,
    status: 200 as number | null,
    answerHeaders: NONE,
    answerBody: '',
  });
  const [evaluation, setEvaluation] = useState<{ result: Evaluation; of: string }>();
  const [error, setError] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);
  const { values, bind } = fields;
  const captured = useCapturedSample((sample) => fields.set(sample));
  const [isPicking, setPicking] = useState(false);

  async function evaluate() {
    setBusy(true);
    setError(undefined);
    try {
      const { method, url, body, clientIp, status } = values;
      const of = contents();
      const result = await execute(TryPolicy, {
        policy: document(),
        proto,
        storedIn: host.storedIn,
        request: { method, url, body: body || null, clientIp, headers: nonEmptyPairs(values.headers) },
        response: values.isAnswered
          ? { status, headers: nonEmptyPairs(values.answerHeaders), body: values.answerBody || null }
          : null,
      });
      setEvaluation(result.evaluatePolicy ? { result: result.evaluatePolicy, of } : undefined);
      announce('The policy was tried. What became of the request stands below the form.');
    } catch (thrown) {
      setEvaluation(undefined);
      setError(toApiFailure(thrown));
    } finally {
      setBusy(false);
    }
  }

  /** What was tried: the policy as it is in the form, and the request. */
  function contents(): string {
    return JSON.stringify([text, values]);
  }

  const subject = isHttp ? 'request' : 'connection';
  return (
    <Section
      title="Try it"
      lead={`Describe a ${subject} and see, rule by rule, what the policy above would do with it. Nothing is stored, and no upstream is asked.`}
      actions={
        isHttp && endpoints !== undefined && <Button onClick={() => setPicking(true)}>Use a captured request</Button>
      }
    >
      {isPicking && endpoints !== undefined && (
        <SamplePicker
          endpoints={endpoints}
          onPick={(id) => {
            setPicking(false);
            void captured.use(id);
          }}
          onClose={() => setPicking(false)}
        />
      )}
      <ErrorNote error={captured.error} />
      {captured.lacks && captured.lacks.length > 0 && (
        <Note variant="warn">
          <p>The captured request had more than the form below. {captured.lacks.join(' ')}</p>
        </Note>
      )}
      <Form submitLabel={`Try it on this ${subject}`} onSubmit={() => void evaluate()} error={error} isBusy={isBusy}>
        <div class="side-by-side">
          {isHttp && (
            <TextField {...bind('method')} name="request.method" label="Method" validate={validateToken} isCode />
          )}
          <TextField
            {...bind('url')}
            name="request.url"
            label={URL_LABELS[proto]}
            type="url"
            validate={validateUrl}
            isCode
          />
        </div>
        <TextField {...bind('clientIp')} name="request.clientIp" label="Address of the visitor" isCode />
        {isHttp && (
          <>
            <KeyValueField
              {...bind('headers')}
              name="request.headers"
              label="Header fields"
              itemName="header field"
              placeholders={['user-agent', 'curl/8']}
              validateName={validateToken}
              allowsDuplicates
              help="Host comes from the URL."
            />
            <TextArea {...bind('body')} name="request.body" label="Body" rows={2} isCode />
            <CheckField {...bind('isAnswered')} label="Say what the upstream answers, for rules about answers" />
          </>
        )}
        {values.isAnswered && (
          <>
            <NumberField {...bind('status')} name="response.status" label="Status of the answer" min={200} max={599} />
            <KeyValueField
              {...bind('answerHeaders')}
              name="response.headers"
              label="Header fields of the answer"
              itemName="header field"
              placeholders={['content-type', 'text/html']}
              validateName={validateToken}
              allowsDuplicates
            />
            <TextArea {...bind('answerBody')} name="response.body" label="Body of the answer" rows={2} isCode />
          </>
        )}
      </Form>
      {evaluation && evaluation.of !== contents() && (
        <Note variant="warn">
          The policy or the {subject} has changed since it was tried: this is what became of it before.{' '}
          <Button onClick={() => void evaluate()} isBusy={isBusy}>
            Try it again
          </Button>
        </Note>
      )}
      {evaluation && (
        <div class={evaluation.of === contents() ? undefined : 'stale'}>
          {evaluation.result.warnings.map(({ path, message }) => (
            <Note key={path} variant="warn">
              <code>{path}</code> {message}
            </Note>
          ))}
          <Explanation evaluation={evaluation.result} />
        </div>
      )}
    </Section>
  );
}

function validateToken(text: string): string | null {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(text) ? null : 'Letters, digits and a few marks, without blanks.';
}

export function PolicyDryRunPanel({ host, values }: ModulePanelProps) {
  return <DryRun document={() => documentOf(values)} text={JSON.stringify(values)} host={policyHost(host)} />;
}

/** The policy in the form as one document. The older form has two separate lists. @throws ApiFailure */
function documentOf({ value, inbound, outbound }: ModulePanelProps['values']): string {
  if (value !== undefined) return String(value);
  try {
    const listIn = (text: unknown) => JSON.parse(String(text) || '[]');
    return JSON.stringify({ inbound: listIn(inbound), outbound: listIn(outbound) });
  } catch {
    throw new ApiFailure('The rules above aren’t JSON yet.');
  }
}
