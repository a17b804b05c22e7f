// What a rule or a silence is narrowed to.

import { useList } from '../../../data/hooks/use-list.ts';
import {
  AlertCertificateChoices,
  AlertCredentialChoices,
  AlertDestinationChoices,
} from '../../../generated/operations.ts';
import { TextField } from '../../../ui/forms/text-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { allOf, maxBytes } from '../../../ui/forms/validators.ts';
import type { Selected } from '../conditions.ts';
import { IdPicker } from './id-picker.tsx';

const IDS_MAX = 100;

export const LABEL_HELP = 'site=berlin, or site for any value of it. Empty: all.';

export const validateLabel = allOf(maxBytes(255), (text) =>
  /^([^=\s]+(=.*)?)?$/.test(text.trim()) ? null : 'Write it as site=berlin, or as site.',
);

export interface SelectorValues {
  addressPattern: string;
  label: string;
  credentialIds: readonly string[];
  certificateIds: readonly string[];
  destinationIds: readonly string[];
}

export const emptySelector: SelectorValues = {
  addressPattern: '',
  label: '',
  credentialIds: [],
  certificateIds: [],
  destinationIds: [],
};

/** @returns the selector with nothing in it that does not fit what is selected. */
export function selectorFor(selects: Selected, values: SelectorValues) {
  const { addressPattern, label, credentialIds, certificateIds, destinationIds } = values;
  const agents = { label: label.trim(), credentialIds: [...credentialIds] };
  if (selects === 'agents') return agents;
  if (selects === 'endpoints') return { ...agents, addressPattern: addressPattern.trim() };
  return selects === 'certificates' ? { certificateIds: [...certificateIds] } : { destinationIds: [...destinationIds] };
}

type SelectorFieldsProps = { selects: Selected } & {
  [Name in keyof SelectorValues]: FieldBinding<SelectorValues[Name]>;
};

export function SelectorFields({ selects, ...fields }: SelectorFieldsProps) {
  if (selects === 'certificates') return <CertificatePicker {...fields.certificateIds} />;
  if (selects === 'destinations') return <DestinationPicker {...fields.destinationIds} />;
  return (
    <>
      {selects === 'endpoints' && (
        <TextField
          {...fields.addressPattern}
          label="Addresses"
          help="A pattern such as device-*.example.com, *:20001 or tcp://*, in which * is any text. Empty: all."
          validate={allOf(maxBytes(255), (text) => (/\s/.test(text.trim()) ? 'It must not have spaces.' : null))}
          isCode
        />
      )}
      <TextField {...fields.label} label="Label of the agents" help={LABEL_HELP} validate={validateLabel} isCode />
      <CredentialPicker {...fields.credentialIds} />
    </>
  );
}

function CredentialPicker(field: FieldBinding<readonly string[]>) {
  const list = useList(AlertCredentialChoices, {}, (result) => result.credentials, { kinds: ['credential'] });
  return (
    <IdPicker
      {...field}
      legend="Credentials"
      help="Endpoints of agents with these. None chosen: with any."
      list={list}
      titleOf={titleOf}
      max={IDS_MAX}
      none="There is no credential yet."
    />
  );
}

function CertificatePicker(field: FieldBinding<readonly string[]>) {
  const list = useList(AlertCertificateChoices, {}, (result) => result.tlsCertificates, { kinds: ['tlsCertificate'] });
  return (
    <IdPicker
      {...field}
      legend="Certificates"
      help="None chosen: all that are in use."
      list={list}
      titleOf={(row) => row.description || row.subjectAlternativeNames.dnsNames.join(', ') || row.id}
      max={IDS_MAX}
      none="There is no certificate yet."
    />
  );
}

function DestinationPicker(field: FieldBinding<readonly string[]>) {
  const list = useList(AlertDestinationChoices, {}, (result) => result.eventDestinations, {
    kinds: ['eventDestination'],
  });
  return (
    <IdPicker
      {...field}
      legend="Event destinations"
      help="None chosen: all."
      list={list}
      titleOf={titleOf}
      max={IDS_MAX}
      none="There is no event destination yet."
    />
  );
}

const titleOf = ({ description, id }: { description: string; id: string }) => description || id;
