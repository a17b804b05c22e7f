import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { TextField } from '../../ui/forms/text-field.tsx';
import { actionWords, kindWords } from '../../ui/history/entry-words.tsx';
import type { AuditFilter } from './filter.ts';

/** What is done often or matters much. An action of a link that is not among them is offered, too. */
const ACTIONS = [
  'CREATED',
  'UPDATED',
  'DELETED',
  'SIGNED_IN',
  'SIGN_IN_FAILED',
  'SIGNED_OUT',
  'SESSIONS_ENDED',
  'PASSWORD_SET',
  'SIGN_IN_LINK_CREATED',
  'SECOND_FACTOR_ON',
  'SECOND_FACTOR_OFF',
  'RECOVERY_CODES_REPLACED',
  'PASSKEY_ADDED',
  'PASSKEY_REMOVED',
  'CAPTURE_STARTED',
  'CAPTURE_STOPPED',
  'CAPTURE_CLEARED',
  'REQUEST_REPLAYED',
  'BACKED_UP',
  'RESTORED',
  'TESTED',
  'POLICY_TRIED',
  'DEAD_LETTERS_RETRIED',
  'DEAD_LETTERS_DISCARDED',
  'BIND_REFUSED',
  'AGENT_RESTARTED',
  'AGENT_STOPPED',
  'AGENT_UPDATED',
  'SHARED_CALLBACK_ENDED',
  'OFFLINE_ENDPOINT_FORGOTTEN',
  'ALERT_ACKNOWLEDGED',
  'CERTIFICATE_RETRIED',
  'CERTIFICATE_REVOKED',
  'CERTIFICATE_WAITS_ENDED',
  'ACME_KEY_CHANGED',
  'ACME_ACCOUNT_REPLACED',
  'BULK_JOB_STARTED',
  'BULK_JOB_CANCELLED',
  'LIST_EXPORTED',
];

const KINDS = [
  'agent',
  'alert',
  'alertChannel',
  'accountIpRestriction',
  'agentIngress',
  'alertRule',
  'alertSilence',
  'apiKey',
  'appSession',
  'appUser',
  'botUser',
  'bulkJob',
  'certificateAuthority',
  'credential',
  'endpoint',
  'eventDestination',
  'eventSubscription',
  'failoverBackend',
  'httpResponseBackend',
  'httpsEdge',
  'httpsEdgeRoute',
  'ipPolicy',
  'ipPolicyRule',
  'kubernetesOperator',
  'provisioningKey',
  'reservedAddress',
  'reservedDomain',
  'secret',
  'staticBackend',
  'tcpEdge',
  'tlsCertificate',
  'tlsEdge',
  'tunnelGroupBackend',
  'tunnelSession',
  'user',
  'vault',
  'weightedBackend',
];

interface AuditFilterBarProps {
  filter: AuditFilter;
  onChange: (some: Partial<AuditFilter>) => void;
}

export function AuditFilterBar({ filter, onChange }: AuditFilterBarProps) {
  const bind = (name: keyof AuditFilter) => ({
    name,
    value: filter[name],
    onChange: (value: string) => onChange({ [name]: value }),
  });
  const isEmpty = Object.values(filter).every((value) => value === '');
  const nothing = { text: '', actor: '', object: '', kind: '', action: '', from: '', to: '' };
  return (
    <search class="audit-filter">
      <TextField {...bind('text')} type="search" label="Words" placeholder="name, address, id" />
      <TextField {...bind('actor')} type="search" label="Done by" placeholder="usr_… or bot_…" />
      <TextField {...bind('object')} type="search" label="Object" placeholder="its id" />
      <SelectField {...bind('kind')} label="Kind" options={optionsOf(KINDS, filter.kind, 'Every kind', kindWords)} />
      <SelectField
        {...bind('action')}
        label="What"
        options={optionsOf(ACTIONS, filter.action, 'Everything', actionWords)}
      />
      <TextField {...bind('from')} type="datetime-local" label="From" />
      <TextField {...bind('to')} type="datetime-local" label="Until" />
      {!isEmpty && <Button onClick={() => onChange(nothing)}>Clear</Button>}
    </search>
  );
}

function optionsOf(values: readonly string[], chosen: string, all: string, words: (value: string) => string) {
  const offered = chosen === '' || values.includes(chosen) ? values : [...values, chosen];
  return [{ value: '', title: all }, ...offered.map((value) => ({ value, title: words(value) }))];
}
