// Warns of certificates before a visitor's browser does.

import './warnings.css';
import type { ComponentChildren } from 'preact';
import { now } from '../../../data/clock.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { type CertificateState, CertificateWarnings } from '../../../generated/operations.ts';
import { Note } from '../../../ui/feedback/note.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { listPaths } from '../navigation.ts';
import { useGatewayCertificates } from './gateway-certificates.tsx';
import { isEndangered, reasonOf } from './state.ts';

/** As days go by, certificates come near their end without any change. */
const POLL_MS = 600_000;
/** How many are told at once. */
const MAX_SHOWN = 5;

interface Warning {
  href: string;
  name: string;
  notAfter: string | null;
  state: CertificateState | null;
}

/** Certificates that need a person, of the account's domains and for admins of the gateway itself; nothing if there are none. */
export function CertificateWarningList() {
  const { data } = useQuery(
    CertificateWarnings,
    {},
    { kinds: ['reservedDomain', 'domainCertificate'], pollMs: POLL_MS },
  );
  const own = useGatewayCertificates()
    .certificates.filter((certificate) => isEndangered(certificate, now.value))
    .map(({ names, notAfter, state }) => ({ href: listPaths.certificates, name: names.join(', '), notAfter, state }));
  const ofDomains = (data?.certificateWarnings ?? []).map(({ domainId, domain, notAfter, state }) => ({
    ...{ href: objectPath('reservedDomain', domainId), name: domain, notAfter, state },
  }));
  const warnings: Warning[] = [...own, ...ofDomains];
  if (warnings.length === 0) return null;
  const more = warnings.length - MAX_SHOWN;
  return (
    <Note variant="warn">
      <div class="certificate-warnings">
        <strong>Certificates that need you</strong>
        <ul>
          {warnings.slice(0, MAX_SHOWN).map((warning) => (
            <li key={warning.name}>
              <a href={warning.href}>{warning.name}</a> {textOf(warning)}
            </li>
          ))}
          {more > 0 && (
            <li>
              and {more} more of your <a href={listPaths.domains}>domains</a>
            </li>
          )}
        </ul>
      </div>
    </Note>
  );
}

function textOf({ notAfter, state }: Warning): ComponentChildren {
  if (notAfter === null) return `has none: ${state === 'PAUSED' ? 'it needs a person' : 'obtaining it fails'}`;
  return (
    <>
      {Date.parse(notAfter) > now.value ? 'ends' : 'ended'} <RelativeTime at={notAfter} />; {reasonOf(state)}
    </>
  );
}
