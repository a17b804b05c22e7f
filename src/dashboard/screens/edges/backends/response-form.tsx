// Creates or edits an HTTP response, which the gateway gives by itself.

import { CreateHttpResponseBackend, UpdateHttpResponseBackend } from '../../../generated/operations.ts';
import { headerNameValidator, validateHeaderValue } from '../../../ui/forms/header-validators.ts';
import { KeyValueField, type KeyValuePair, pairsToRecord, recordToPairs } from '../../../ui/forms/key-value-field.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { TextArea } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes } from '../../../ui/forms/validators.ts';

interface ResponseFormProps extends ObjectFormCallers {
  backend?: {
    id: string;
    description: string;
    metadata: string;
    statusCode: number;
    headers: Record<string, string>;
    body: string;
  };
}

const BODY_MAX_BYTES = 32_768;
const NO_HEADERS: readonly KeyValuePair[] = [];

export function ResponseForm({ backend, ...callers }: ResponseFormProps) {
  const fields = useFormFields(
    {
      statusCode: (backend?.statusCode ?? 200) as number | null,
      headers: backend ? recordToPairs(backend.headers) : NO_HEADERS,
      body: backend?.body ?? '',
      description: backend?.description ?? '',
      metadata: backend?.metadata ?? '',
    },
    { draft: `HTTP response ${backend?.id ?? 'new'}`, kind: backend && 'httpResponseBackend' },
  );
  const { values, bind } = fields;
  const toInput = () => ({ ...values, headers: pairsToRecord(values.headers) });
  return (
    <ObjectForm
      {...callers}
      noun="HTTP response"
      id={backend?.id}
      create={CreateHttpResponseBackend}
      update={UpdateHttpResponseBackend}
      toCreate={toInput}
      toUpdate={toInput}
      fields={fields}
    >
      <NumberField {...bind('statusCode')} label="Status" help="200 to 599, as 503." min={200} max={599} />
      <KeyValueField
        {...bind('headers')}
        label="Header fields"
        itemName="header field"
        placeholders={['content-type', 'text/html; charset=utf-8']}
        maxPairs={50}
        validateName={headerNameValidator('response')}
        validateValue={validateHeaderValue}
        help="A body without content-type is text/plain; charset=utf-8."
      />
      <TextArea
        {...bind('body')}
        label="Body"
        help="At most 32 KiB."
        rows={8}
        validate={allOf(maxBytes(BODY_MAX_BYTES), (body) =>
          body !== '' && (values.statusCode === 204 || values.statusCode === 304)
            ? `A response of status ${values.statusCode} has no body.`
            : null,
        )}
        isCode
      />
      <MetadataFields bind={bind} />
    </ObjectForm>
  );
}
