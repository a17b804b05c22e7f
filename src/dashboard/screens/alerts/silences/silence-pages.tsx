// The pages that create and show an alert silence.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { viewer } from '../../../data/session/session.ts';
import {
  AlertRuleChoices,
  AlertSilence,
  CreateAlertSilence,
  DeleteAlertSilence,
} from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateDescription } from '../../../ui/forms/validators.ts';
import { AuditHistory } from '../../../ui/history/audit-history.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { listPaths, silenceCrumbs } from '../navigation.ts';
import { LABEL_HELP, validateLabel } from '../rules/selector-fields.tsx';
import { SilenceEnd, silenceText } from './silence-text.tsx';

const YEAR_MINUTES = 525_600;

/** `?rule=` names the rule that is chosen at first. */
export function NewSilence() {
  const { route, query } = useLocation();
  const { data, error, refetch } = useQuery(AlertRuleChoices, {}, { kinds: ['alertRule'] });
  const { values, bind } = useFormFields({
    ruleId: query.rule ?? '',
    addressPattern: '',
    label: '',
    minutes: 60 as number | null,
    reason: '',
  });
  const create = useMutation(CreateAlertSilence);
  const rules = data?.alertRules?.nodes ?? [];
  const options = [{ value: '', title: 'All rules' }, ...rules.map(({ id, name }) => ({ value: id, title: name }))];

  async function submit() {
    const { ruleId, addressPattern, label, minutes, reason } = values;
    const input = {
      ruleId: ruleId || null,
      selector: { addressPattern: addressPattern.trim(), label: label.trim() },
      minutes: minutes ?? 0,
      reason,
    };
    if (!(await create.mutate({ input }))) return;
    toast('It is silenced.');
    route(listPaths.silences);
  }

  return (
    <Page title="New alert silence" crumbs={silenceCrumbs}>
      <ErrorNote error={error} retry={() => void refetch()} />
      <Form
        submitLabel="Silence"
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.silences)}
      >
        <SelectField {...bind('ruleId')} label="Rule" options={options} />
        <TextField
          {...bind('addressPattern')}
          label="Addresses"
          help="Only endpoints with such addresses: device-*.example.com. Empty: the rule as a whole."
          validate={(text) =>
            [values.ruleId, values.label.trim(), text.trim()].every((given) => given === '')
              ? 'Choose a rule, or say which addresses or agents.'
              : null
          }
          isCode
        />
        <TextField {...bind('label')} label="Label of the agents" help={LABEL_HELP} validate={validateLabel} isCode />
        <NumberField {...bind('minutes')} label="For" unit="min" min={1} max={YEAR_MINUTES} />
        <TextField {...bind('reason')} label="Reason" help="For people." validate={validateDescription} />
      </Form>
    </Page>
  );
}

export function SilencePage() {
  const id = useParam('id');
  const { route } = useLocation();
  const { data, error, refetch } = useQuery(AlertSilence, { id }, { kinds: ['alertSilence'] });
  const remove = useMutation(DeleteAlertSilence);
  const silence = data?.alertSilence;
  if (!silence) {
    return (
      <Page title="Alert silence" crumbs={silenceCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { rule, until, reason, createdBy, createdAt } = silence;

  async function end() {
    if (!(await remove.mutate({ id }))) return;
    toast('The silence is ended.');
    route(listPaths.silences);
  }

  const actions = viewer.value?.isAdmin && (
    <Button isBusy={remove.isBusy} onClick={() => void end()}>
      End it now
    </Button>
  );
  return (
    <Page title={silenceText(silence)} crumbs={silenceCrumbs} actions={actions}>
      <ErrorNote error={remove.error} />
      <DescriptionList
        items={[
          rule && { name: 'Rule', value: <a href={objectPath('alertRule', rule.id)}>{rule.name}</a> },
          { name: 'Ends', value: <SilenceEnd until={until} /> },
          reason !== '' && { name: 'Reason', value: reason },
          { name: 'By', value: createdBy },
          { name: 'Since', value: <RelativeTime at={createdAt} /> },
        ]}
      />
      <AuditHistory id={id} />
    </Page>
  );
}
