// Renews the certificates of listeners that the gateway issues itself.

import type { Lifecycle } from '../lifecycle.ts';

/** Time between two renewals of the certificate, which is valid for a month at least; milliseconds. */
const RENEWAL_INTERVAL_MS = 24 * 3_600_000;

export interface CertificateRenewalParts<T> {
  /** What the certificate is of, for the log. */
  name: string;
  issue(): Promise<T>;
  listeners: readonly { setIdentity(identity: T): void }[];
  onFailure(error: unknown): void;
}

/** Gives the listeners a new certificate every day. */
export async function startCertificateRenewal<T>(
  parts: Lifecycle,
  { name, issue, listeners, onFailure }: CertificateRenewalParts<T>,
): Promise<void> {
  const renew = (identity: T) => {
    for (const listener of listeners) listener.setIdentity(identity);
  };
  await parts.start({
    name: `renewal of the certificate of ${name}`,
    start: () => setInterval(() => issue().then(renew, onFailure), RENEWAL_INTERVAL_MS).unref(),
    stop: (timer) => clearInterval(timer),
  });
}
