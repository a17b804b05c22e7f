import type { ApiFailure } from '../../data/client/client.ts';
import type { ReplayRequestInput } from '../../generated/operations.ts';
import { CheckField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { ListField } from '../../ui/forms/list-field.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { maxBytes, required } from '../../ui/forms/validators.ts';
import type { Request } from './captured-request.ts';
import { AS_CAPTURED, initialEdits, replayInput, validateHeader } from './replay-edits.ts';

/** The API takes requests of 64 KiB, and the body in them is Base64. */
const BODY_MAX_BYTES = 45_000;
const BODY_ROWS = 12;

export interface ReplayFormProps {
  request: Request;
  error: ApiFailure | undefined;
  isBusy: boolean;
  onSend: (input: ReplayRequestInput) => void;
  onCancel: () => void;
}

export function ReplayForm({ request, error, isBusy, onSend, onCancel }: ReplayFormProps) {
  const fields = useFormFields(initialEdits(request));
  const { values, bind } = fields;
  const { isWhole, text } = request.requestBody;
  return (
    <Form
      submitLabel="Send it"
      error={error}
      isBusy={isBusy}
      fields={fields}
      onSubmit={() => onSend(replayInput(request, values))}
      onCancel={onCancel}
    >
      <TextField {...bind('method')} label="Method" isCode validate={required('A method')} />
      <TextField
        {...bind('path')}
        label="Path and query"
        isCode
        validate={(path) => (path.startsWith('/') ? null : 'A path begins with “/”.')}
      />
      <ListField
        {...bind('headers')}
        label="Headers"
        itemName="header"
        placeholder="name: value"
        validateLine={validateHeader}
        hintFor={(line) =>
          line.endsWith(AS_CAPTURED) ? 'Not shown, but sent as it was captured. Type another value to send that.' : null
        }
        help="Host, the length of the body and what belongs to one hop are made anew."
      />
      {isWhole && (
        <CheckField
          {...bind('keepsBody')}
          label={
            text === null ? 'Send the body as it was captured (it is no text)' : 'Send the body as it was captured'
          }
        />
      )}
      {!values.keepsBody && (
        <TextArea
          {...bind('body')}
          name="bodyBase64"
          label="Body"
          isCode
          rows={BODY_ROWS}
          validate={maxBytes(BODY_MAX_BYTES)}
          help={isWhole ? undefined : 'The body wasn’t kept whole: what stands here is sent instead.'}
        />
      )}
    </Form>
  );
}
