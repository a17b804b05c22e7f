// The form that reserves a TCP address.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { CreateAddress } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { Page } from '../../../ui/layout/page.tsx';
import { addressCrumbs, listPaths } from '../navigation.ts';
import { tcpCommand } from './agent-command.ts';

const PORT_MAX = 65_535;

export function NewAddress() {
  const { route } = useLocation();
  const fields = useFormFields(
    { port: null as number | null, description: '', metadata: '' },
    { draft: 'new TCP address' },
  );
  const { bind, values } = fields;
  const create = useMutation(CreateAddress);
  const command = tcpCommand(Number.isInteger(values.port) ? String(values.port) : 'N');

  async function submit() {
    const { id } = (await create.mutate({ input: values }))?.createReservedAddress?.reservedAddress ?? {};
    if (!id) return;
    fields.saved();
    route(objectPath('reservedAddress', id), true);
  }

  return (
    <Page title="Reserve a TCP address" crumbs={addressCrumbs}>
      <Form
        submitLabel="Reserve the address"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.addresses)}
      >
        <NumberField
          {...bind('port')}
          label="Port"
          placeholder="any that is free"
          min={1}
          max={PORT_MAX}
          help={
            <>
              It can’t be changed later. An agent serves it with <code>{command}</code>, or a TCP edge answers on it.
            </>
          }
        />
        <MetadataFields bind={bind} />
      </Form>
    </Page>
  );
}
