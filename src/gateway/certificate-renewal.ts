// Renews the listeners' own certificate, which the development authority issues.

import type { Lifecycle } from './lifecycle.ts';

/** Time between two renewals of the certificate, which is valid for a month at least; milliseconds. */
const RENEWAL_INTERVAL_MS = 24 * 3_600_000;

interface Identity {
  cert: string;
  key: string;
}

export interface CertificateRenewalParts {
  issue(): Promise<Identity>;
  listeners: readonly { setIdentity(identity: Identity): void }[];
  onFailure(error: unknown): void;
}

/** Gives the listeners a new certificate every day. */
export async function startCertificateRenewal(
  parts: Lifecycle,
  { issue, listeners, onFailure }: CertificateRenewalParts,
): Promise<void> {
  const renew = (identity: Identity) => {
    for (const listener of listeners) listener.setIdentity(identity);
  };
  await parts.start({
    name: 'renewal of the listeners’ certificate',
    start: () => setInterval(() => issue().then(renew, onFailure), RENEWAL_INTERVAL_MS).unref(),
    stop: (timer) => clearInterval(timer),
  });
}
