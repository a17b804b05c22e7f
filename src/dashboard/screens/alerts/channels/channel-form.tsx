// Creates or edits an alert channel.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import {
  type AlertChannelKind,
  type AlertChannelRowFragment,
  CreateAlertChannel,
  UpdateAlertChannel,
} from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { ListField, nonEmptyLines } from '../../../ui/forms/list-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required, validateUrl } from '../../../ui/forms/validators.ts';
import { kindTitles } from './channel-text.ts';

const RECIPIENTS_MAX = 20;

interface ChannelFormProps {
  channel?: AlertChannelRowFragment;
  /** Called with the new signing secret, if there is one. It is never shown again. */
  onDone: (id: string, secret: string | null | undefined) => void;
  onCancel: () => void;
}

const kindOptions = Object.entries(kindTitles).map(([value, title]) => ({ value, title }));

export function ChannelForm({ channel, onDone, onCancel }: ChannelFormProps) {
  const { values, bind } = useFormFields({
    name: channel?.name ?? '',
    kind: (channel?.kind ?? 'EMAIL') as string,
    url: channel?.url ?? '',
    recipients: (channel?.recipients.length ? channel.recipients : ['']) as readonly string[],
  });
  const create = useMutation(CreateAlertChannel);
  const update = useMutation(UpdateAlertChannel);
  const kind = values.kind as AlertChannelKind; // The options are of this type.

  async function submit() {
    const input = {
      name: values.name,
      ...(kind === 'WEBHOOK' && { url: values.url.trim() }),
      ...(kind === 'EMAIL' && { recipients: nonEmptyLines(values.recipients) }),
    };
    const done = channel
      ? (await update.mutate({ id: channel.id, input }))?.updateAlertChannel
      : (await create.mutate({ input: { ...input, kind } }))?.createAlertChannel;
    if (done) onDone(done.alertChannel.id, done.signingSecret);
  }

  return (
    <Form
      submitLabel={channel ? 'Save' : 'Create the channel'}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField
        {...bind('name')}
        label="Name"
        validate={allOf(required('A name'), (text) => (text.trim().length > 100 ? 'At most 100 characters.' : null))}
      />
      <SelectField {...bind('kind')} label="How it tells" options={kindOptions} isDisabled={channel !== undefined} />
      {kind === 'WEBHOOK' && (
        <TextField
          {...bind('url')}
          label="URL"
          help={
            channel
              ? 'With another URL, the gateway makes another signing secret.'
              : 'Where notifications are POSTed, at a host that the gateway’s operator allows.'
          }
          validate={validateUrl}
          isCode
        />
      )}
      {kind === 'EMAIL' && (
        <ListField
          {...bind('recipients')}
          label="Recipients"
          itemName="recipient"
          placeholder="ops@example.com"
          maxLines={RECIPIENTS_MAX}
          validate={(lines) => (nonEmptyLines(lines).length === 0 ? 'A recipient is needed.' : null)}
          validateLine={(line) => (/^[^\s@]+@[^\s@]+$/.test(line.trim()) ? null : 'This is not an e-mail address.')}
        />
      )}
      {kind === 'EVENTS' && (
        <Note>
          It writes events: what gets them are the event subscriptions that have alert_fired.v0 and alert_resolved.v0.
        </Note>
      )}
    </Form>
  );
}
