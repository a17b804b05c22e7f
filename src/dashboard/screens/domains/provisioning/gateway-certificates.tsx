// The certificates of the gateway's own names, which only admins see.

import { now } from '../../../data/clock.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { viewer } from '../../../data/session/session.ts';
import { GatewayCertificates } from '../../../generated/operations.ts';
import { Tag } from '../../../ui/feedback/tag.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { RecordList } from '../record-list.tsx';
import { InForce, Progress } from './progress.tsx';
import { markOf } from './state.ts';

/** The change feed tells nothing of certificates that belong to no account. */
const POLL_MS = 30_000;

/** None for who is no admin. */
export function useGatewayCertificates() {
  const { data } = useQuery(GatewayCertificates, {}, { skip: !viewer.value?.isAdmin, pollMs: POLL_MS });
  return {
    certificates: data?.gatewayCertificates ?? [],
    isOn: data?.gatewayInfo?.obtainsCertificates ?? true,
  };
}

export function GatewayCertificateSection() {
  const { certificates, isOn } = useGatewayCertificates();
  if (certificates.length === 0) return null;
  return (
    <Section
      title="The gateway’s own names"
      lead="Obtained and renewed by the gateway for visitors of tunnels, agents and the API. Admins see them."
    >
      {certificates.map((certificate) => {
        const { names, state, records } = certificate;
        const { variant, word } = markOf(certificate, isOn, now.value);
        const isUnderWay = isOn && state !== 'ISSUED';
        return (
          <article key={names.join()} class="own-certificate">
            <h3>
              {names.join(', ')} <Tag variant={variant}>{word}</Tag>
            </h3>
            {isUnderWay && <Progress certificate={certificate} />}
            {isUnderWay && <RecordList records={records.filter((record) => record.state !== 'OK')} />}
            <InForce certificate={certificate} />
          </article>
        );
      })}
    </Section>
  );
}
