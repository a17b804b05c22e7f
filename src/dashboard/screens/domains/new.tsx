import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CreateDomain } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { allOf, required, validateDescription, validateMetadata } from '../../ui/forms/validators.ts';
import { Page } from '../../ui/layout/page.tsx';
import { domainCrumbs, listPaths } from './navigation.ts';

export function NewDomain() {
  const { route } = useLocation();
  const fields = useFormFields({ domain: '', description: '', metadata: '' }, { draft: 'new domain' });
  const { bind, values } = fields;
  const create = useMutation(CreateDomain);

  async function submit() {
    const result = await create.mutate({ input: { ...values, domain: values.domain.trim() } });
    const { id } = result?.createReservedDomain?.reservedDomain ?? {};
    if (!id) return;
    fields.saved();
    route(objectPath('reservedDomain', id), true);
  }

  return (
    <Page title="Reserve a domain" crumbs={domainCrumbs}>
      <Form
        submitLabel="Reserve the domain"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.domains)}
      >
        <TextField
          {...bind('domain')}
          label="Domain"
          placeholder="app.example.com"
          help="A full name, or a wildcard such as *.example.com for every name below. It can’t be changed later. For a domain of your own, the next page tells which DNS records to add."
          validate={allOf(required('A domain'), validateDomainName)}
          isCode
        />
        <TextField {...bind('description')} label="Description" help="For people." validate={validateDescription} />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          rows={2}
          validate={validateMetadata}
          isCode
        />
      </Form>
    </Page>
  );
}

/** Rejects what people paste by mistake. The gateway validates the rest. */
function validateDomainName(value: string): string | null {
  const name = value.trim();
  if (/^[a-z]+:\/\//i.test(name)) return 'Only the name is needed, without a scheme such as https://.';
  if (/[/:]/.test(name)) return 'Only the name is needed, without a port or path.';
  return /\s/.test(name) ? 'A name has no blanks in it.' : null;
}
