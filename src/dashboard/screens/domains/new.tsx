import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { addressOf } from '../../data/routing/paths.ts';
import { CreateDomain } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { all, description, metadata, needed } from '../../ui/forms/validators.ts';
import { Page } from '../../ui/layout/page.tsx';
import { domainCrumbs, lists } from './navigation.ts';

export function NewDomain() {
  const { route } = useLocation();
  const { bind, values } = useFields({ domain: '', description: '', metadata: '' });
  const create = useAction(CreateDomain);

  async function submit() {
    const result = await create.act({ input: { ...values, domain: values.domain.trim() } });
    const { id } = result?.createReservedDomain ?? {};
    if (id) route(addressOf('reservedDomain', id), true);
  }

  return (
    <Page title="Reserve a domain" crumbs={domainCrumbs}>
      <Form
        action="Reserve the domain"
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(lists.domains)}
      >
        <TextField
          {...bind('domain')}
          label="Domain"
          placeholder="app.example.com"
          help="A full name, or a wildcard such as *.example.com for every name below. It can’t be changed later. For a domain of your own, the next page tells which DNS records to add."
          check={all(needed('A domain'), plainName)}
          isCode
        />
        <TextField {...bind('description')} label="Description" help="For people." check={description} />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          rows={2}
          check={metadata}
          isCode
        />
      </Form>
    </Page>
  );
}

/** What people paste. The rest the gateway tells. */
function plainName(value: string): string | null {
  const name = value.trim();
  if (/^[a-z]+:\/\//i.test(name)) return 'Only the name is needed, without a scheme such as https://.';
  if (/[/:]/.test(name)) return 'Only the name is needed, without a port or path.';
  return /\s/.test(name) ? 'A name has no blanks in it.' : null;
}
