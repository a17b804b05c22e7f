// Creates or edits an alert rule.

import { useList } from '../../../data/hooks/use-list.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import {
  AlertChannelChoices,
  type AlertCondition,
  type AlertRuleQuery,
  type AlertSeverity,
  CreateAlertRule,
  UpdateAlertRule,
} from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { CheckField, SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { TextArea, TextField } from '../../../ui/forms/text-field.tsx';
import { type FieldBinding, useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required, validateDescription } from '../../../ui/forms/validators.ts';
import { conditionForms, fromFormThreshold, isShare, severityTitles, toFormThreshold } from '../conditions.ts';
import { newChannel } from '../navigation.ts';
import { IdPicker } from './id-picker.tsx';
import { emptySelector, SelectorFields, selectorFor } from './selector-fields.tsx';

const CHANNELS_MAX = 20;
const WEEK_SECONDS = 604_800;

interface AlertRuleFormProps {
  rule?: NonNullable<AlertRuleQuery['alertRule']>;
  onDone: (id: string) => void;
  onCancel: () => void;
}

const conditionOptions = Object.entries(conditionForms).map(([value, { title }]) => ({ value, title }));
const severityOptions = Object.entries(severityTitles).map(([value, title]) => ({ value, title }));

function initialValues(rule: AlertRuleFormProps['rule']) {
  const condition: AlertCondition = rule?.condition ?? 'ENDPOINT_OFFLINE';
  const { addressPattern, label, credentialIds, certificateIds, destinationIds } = rule?.selector ?? emptySelector;
  return {
    name: rule?.name ?? '',
    description: rule?.description ?? '',
    condition: condition as string,
    threshold: toFormThreshold(condition, rule?.threshold),
    forSeconds: (rule?.forSeconds ?? 120) as number | null,
    resolveSeconds: (rule?.resolveSeconds ?? 60) as number | null,
    updateMinutes: (rule?.updateMinutes ?? 30) as number | null,
    severity: (rule?.severity ?? 'WARNING') as string,
    enabled: rule?.enabled ?? true,
    ...{ addressPattern, label, credentialIds, certificateIds, destinationIds },
    channelIds: (rule?.channels.map(({ id }) => id) ?? []) as readonly string[],
  };
}

export function AlertRuleForm({ rule, onDone, onCancel }: AlertRuleFormProps) {
  const { values, bind } = useFormFields(initialValues(rule));
  const create = useMutation(CreateAlertRule);
  const update = useMutation(UpdateAlertRule);
  const condition = values.condition as AlertCondition; // The options are of this type.
  const form = conditionForms[condition];

  async function submit() {
    const { name, description, enabled, channelIds } = values;
    const input = {
      ...{ name, description, enabled, channelIds: [...channelIds] },
      threshold: fromFormThreshold(condition, values.threshold),
      forSeconds: form.hasDuration ? (values.forSeconds ?? 0) : 0,
      resolveSeconds: values.resolveSeconds ?? 0,
      updateMinutes: values.updateMinutes ?? 30,
      severity: values.severity as AlertSeverity,
      selector: selectorFor(form.selects, values),
    };
    const id = rule
      ? (await update.mutate({ id: rule.id, input }))?.updateAlertRule?.alertRule?.id
      : (await create.mutate({ input: { ...input, condition } }))?.createAlertRule?.alertRule?.id;
    if (id) onDone(id);
  }

  return (
    <Form
      submitLabel={rule ? 'Save' : 'Create the rule'}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField
        {...bind('name')}
        label="Name"
        help="What notifications call it."
        validate={allOf(required('A name'), (text) => (text.trim().length > 100 ? 'At most 100 characters.' : null))}
      />
      <SelectField
        {...bind('condition')}
        label="Condition"
        options={conditionOptions}
        help={rule ? `${form.help} The condition of a rule stays.` : form.help}
        isDisabled={rule !== undefined}
      />
      {form.threshold && (
        <NumberField key={condition} {...bind('threshold')} {...form.threshold} isDecimal={isShare(condition)} />
      )}
      {form.hasDuration && (
        <NumberField
          {...bind('forSeconds')}
          label="For"
          unit="s"
          min={0}
          max={WEEK_SECONDS}
          help="How long it has to be so before the alert fires."
        />
      )}
      <SelectorFields
        selects={form.selects}
        addressPattern={bind('addressPattern')}
        label={bind('label')}
        credentialIds={bind('credentialIds')}
        certificateIds={bind('certificateIds')}
        destinationIds={bind('destinationIds')}
      />
      <SelectField {...bind('severity')} label="Severity" options={severityOptions} />
      <ChannelPicker {...bind('channelIds')} />
      <NumberField
        {...bind('resolveSeconds')}
        label="Resolved after"
        unit="s"
        min={0}
        max={WEEK_SECONDS}
        help="How long all has to be well again."
      />
      <NumberField
        {...bind('updateMinutes')}
        label="Told again at most every"
        unit="min"
        min={1}
        max={10_080}
        help="While more objects are affected."
      />
      <TextArea
        {...bind('description')}
        label="What to do"
        help="Shown with the alert, for whoever looks at it."
        rows={2}
        validate={validateDescription}
      />
      <CheckField {...bind('enabled')} label="It is evaluated" />
    </Form>
  );
}

function ChannelPicker(field: FieldBinding<readonly string[]>) {
  const list = useList(AlertChannelChoices, {}, (result) => result.alertChannels, { kinds: ['alertChannel'] });
  return (
    <>
      <IdPicker
        {...field}
        legend="Channels"
        help="Who is told when it fires, grows and is resolved."
        list={list}
        titleOf={({ name }) => name}
        max={CHANNELS_MAX}
        none="There is no channel yet: the alert shows in the dashboard alone."
      />
      {!list.isLoading && list.rows.length === 0 && <LinkButton href={newChannel}>New channel</LinkButton>}
    </>
  );
}
