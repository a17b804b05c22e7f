// Assigns a certificate to a domain: one that exists, or a new one.

import { useState } from 'preact/hooks';
import { useList } from '../../data/hooks/use-list.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { Certificates, UpdateDomain } from '../../generated/operations.ts';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { CertificateForm } from './certificates/form.tsx';
import type { Domain } from './dialogs.tsx';
import { certificateTitle } from './navigation.ts';

interface AssignCertificateProps {
  domain: Domain;
  onDone: () => void;
  onCancel: () => void;
}

const UPLOAD = '';

export function AssignCertificate({ domain, onDone, onCancel }: AssignCertificateProps) {
  const { rows, isLoading } = useList(Certificates, {}, (result) => result.tlsCertificates, {
    kinds: ['tlsCertificate'],
  });
  const [selected, setSelected] = useState(UPLOAD);
  const assign = useMutation(UpdateDomain);
  const candidates = rows.filter(
    ({ id, subjectAlternativeNames }) =>
      id !== domain.certificate?.id && subjectAlternativeNames.dnsNames.some((name) => covers(name, domain.domain)),
  );

  async function assignCertificate(certificateId: string) {
    if (await assign.mutate({ id: domain.id, input: { certificateId } })) onDone();
  }

  const certificateSelect = candidates.length > 0 && (
    <SelectField
      name="certificateId"
      label="Which one"
      value={selected}
      onChange={setSelected}
      options={[
        { value: UPLOAD, title: 'Upload a new one' },
        ...candidates.map((row) => ({
          value: row.id,
          title: `${certificateTitle(row)}, until ${row.notAfter.slice(0, 10)}`,
        })),
      ]}
    />
  );
  if (isLoading) return null;
  if (selected !== UPLOAD) {
    return (
      <Form
        submitLabel="Show it to visitors"
        onSubmit={() => void assignCertificate(selected)}
        error={assign.error}
        isBusy={assign.isBusy}
        onCancel={onCancel}
      >
        {certificateSelect}
      </Form>
    );
  }
  return (
    <CertificateForm
      action="Upload it and show it to visitors"
      error={assign.error}
      header={certificateSelect}
      onDone={(id) => void assignCertificate(id)}
      onCancel={onCancel}
    />
  );
}

/** Whether a name of a certificate covers a domain. The gateway validates again. */
function covers(name: string, domain: string): boolean {
  return name === domain || (name.startsWith('*.') && domain.slice(domain.indexOf('.')) === name.slice(1));
}
