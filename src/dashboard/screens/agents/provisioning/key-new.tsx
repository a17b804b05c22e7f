import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { CreateProvisioningKey } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { KeyValueField, type KeyValuePair, pairsToRecord } from '../../../ui/forms/key-value-field.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateDescription } from '../../../ui/forms/validators.ts';
import { OneTimeSecret } from '../../../ui/layout/one-time-secret.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { validateLabelKey, validateLabelValue } from '../label-validators.ts';
import { provisioningCrumbs } from '../navigation.ts';
import { ImageCommand } from './image-command.tsx';

const validateCount = (text: string) =>
  text.trim() === '' || /^[1-9]\d{0,6}$/.test(text.trim()) ? null : 'A whole number from 1 on.';

export function NewProvisioningKey() {
  const { route } = useLocation();
  const [created, setCreated] = useState<{ id: string; token: string }>();
  const fields = useFormFields(
    {
      description: '',
      acl: '',
      labels: [] as readonly KeyValuePair[],
      usesMax: '',
      validHours: '720',
    },
    { draft: 'new provisioning key' },
  );
  const { bind, values } = fields;
  const create = useMutation(CreateProvisioningKey);

  async function submit() {
    const { description, usesMax, validHours } = values;
    const acl = values.acl.split('\n').map((rule) => rule.trim());
    const input = {
      ...{ description, acl: acl.filter((rule) => rule !== ''), labels: pairsToRecord(values.labels) },
      ...(usesMax.trim() && { usesMax: Number(usesMax) }),
      ...(validHours.trim() && { validHours: Number(validHours) }),
    };
    const { provisioningKey, token } = (await create.mutate({ input }))?.createProvisioningKey ?? {};
    if (!provisioningKey || !token) return;
    const { id } = provisioningKey;
    fields.saved();
    setCreated({ id, token });
  }

  if (created) {
    return (
      <Page title="The new provisioning key" crumbs={provisioningCrumbs}>
        <OneTimeSecret
          name="provisioning key"
          secret={created.token}
          onDismiss={() => route(objectPath('provisioningKey', created.id), true)}
        >
          <p>
            With <code>--no-start</code> the second line only writes the service, as into an image: the device gets its
            credential at its first start.
          </p>
          <ImageCommand token={created.token} />
        </OneTimeSecret>
      </Page>
    );
  }
  return (
    <Page title="New provisioning key" crumbs={provisioningCrumbs}>
      <Form
        submitLabel="Create the provisioning key"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(pathTo('agents', 'keys'))}
      >
        <TextField
          {...bind('description')}
          label="Description"
          help="For people: which devices it is for."
          validate={validateDescription}
        />
        <TextArea
          {...bind('acl')}
          label="What each device may bind"
          help="A rule a line; {name} and {hostname} stand for those of the device. Empty: everything."
          placeholder="bind:{hostname}.devices.example.com"
          rows={3}
          isCode
        />
        <KeyValueField
          {...bind('labels')}
          label="Labels of the agents"
          itemName="label"
          titles={['Key', 'Value']}
          placeholders={['site', 'berlin']}
          validateName={validateLabelKey}
          validateValue={validateLabelValue}
          maxPairs={20}
        />
        <TextField
          {...bind('usesMax')}
          label="For how many devices"
          help="Empty: any number."
          validate={validateCount}
        />
        <TextField
          {...bind('validHours')}
          label="For how many hours"
          help="Empty: for ever. 720 hours are 30 days."
          validate={validateCount}
        />
      </Form>
    </Page>
  );
}
