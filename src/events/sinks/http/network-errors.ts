// What the network and TLS say of a request that failed, in words of our own: theirs name addresses and hosts, which can
// be those of an operator's network, and are not for tenants.

import type { Reason } from '../sink.ts';

const texts: Record<string, string> = {
  ABORT_ERR: 'it was given up before there was an answer',
  EAI_AGAIN: 'the host could not be looked up',
  ENOTFOUND: 'the host has no address',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  ETIMEDOUT: 'there was no answer in time',
};

/** Other codes, by what they begin with or have in them. */
const families: readonly [RegExp, string][] = [
  [/^HPE_/, 'what it answers is not HTTP'],
  [/CERT|SIGNATURE|ISSUER|CRL/, 'the certificate is not to be trusted'],
];

/** The reason of a failure that was thrown in place of an answer: its code as it is, and nothing of its text. */
export function networkReason({ code, name }: { code?: string | undefined; name?: string | undefined }): Reason {
  const family = families.find(([pattern]) => code && pattern.test(code));
  const message = (code && texts[code]) ?? family?.[1] ?? 'the connection failed';
  return { code: code || name || 'Error', message };
}
