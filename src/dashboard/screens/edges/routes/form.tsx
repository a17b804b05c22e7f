// Creates or edits a route.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateHttpsEdgeRoute, type MatchType, UpdateHttpsEdgeRoute } from '../../../generated/operations.ts';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes, required } from '../../../ui/forms/validators.ts';
import { AnyBackendForm } from '../backends/any-form.tsx';
import { ReferenceField } from '../references/reference-field.tsx';
import { backendReference } from '../references/references.ts';

interface RouteFormProps {
  edgeId: string;
  route?: { id: string; matchType: MatchType; match: string; description: string; metadata: string };
  onDone: (id: string) => void;
  onCancel: () => void;
}

const matchTypes: { value: MatchType; title: string }[] = [
  { value: 'PATH_PREFIX', title: 'it, and everything below it' },
  { value: 'EXACT_PATH', title: 'exactly this path' },
];

export function RouteForm({ edgeId, route, onDone, onCancel }: RouteFormProps) {
  const fields = useFormFields(
    {
      match: route?.match ?? '/',
      matchType: route?.matchType ?? ('PATH_PREFIX' as MatchType),
      backendId: '',
      description: route?.description ?? '',
      metadata: route?.metadata ?? '',
    },
    { draft: `route ${route?.id ?? `new ${edgeId}`}`, kind: route && 'httpsEdgeRoute' },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateHttpsEdgeRoute);
  const update = useMutation(UpdateHttpsEdgeRoute);
  const matchType = bind('matchType');

  async function submit() {
    const { backendId, ...input } = values;
    const id = route
      ? (await update.mutate({ edgeId, id: route.id, input }))?.updateHttpsEdgeRoute?.httpsEdgeRoute?.id
      : (await create.mutate({ edgeId, input: { ...input, backend: { backendId } } }))?.createHttpsEdgeRoute
          ?.httpsEdgeRoute?.id;
    if (!id) return;
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={route ? 'Save' : 'Create the route'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField
        {...bind('match')}
        label="Path"
        help="As /api. Queries are not looked at."
        validate={allOf(required('A path'), path, maxBytes(1024))}
        isCode
      />
      <SelectField
        {...matchType}
        onChange={(value) => matchType.onChange(value === 'EXACT_PATH' ? 'EXACT_PATH' : 'PATH_PREFIX')}
        label="It takes requests for"
        options={matchTypes}
      />
      {!route && (
        <ReferenceField
          {...bind('backendId')}
          name="backend.backendId"
          label="Backend"
          type={backendReference}
          form={AnyBackendForm}
          help="Where the requests go: to every live tunnel that has the labels of a tunnel group, or wherever another backend leads."
        />
      )}
      <MetadataFields bind={bind} />
    </Form>
  );
}

function path(text: string): string | null {
  if (!text.startsWith('/')) return 'A path begins with a slash.';
  return /^\/[^?#\s\p{Cc}]*$/u.test(text) ? null : 'A path has no query, no fragment and no blanks.';
}
