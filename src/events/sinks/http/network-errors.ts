// The reasons of failures of the network and of TLS in the gateway's own texts. The original texts name addresses and hosts, which
// can be of the operator's network and must not be shown to tenants.

import type { Reason } from '../sink.ts';

const texts: Record<string, string> = {
  ABORT_ERR: 'it was given up before there was an answer',
  EAI_AGAIN: 'the host could not be looked up',
  ENOTFOUND: 'the host has no address',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  ETIMEDOUT: 'there was no answer in time',
};

/** Patterns of other codes. */
const families: readonly [RegExp, string][] = [
  [/^HPE_/, 'what it answers is not HTTP'],
  [/CERT|SIGNATURE|ISSUER|CRL/, 'the certificate is not to be trusted'],
];

/** The reason of a failure without a response: its original code, and nothing of its text. */
export function networkReason({ code, name }: { code?: string | undefined; name?: string | undefined }): Reason {
  const family = families.find(([pattern]) => code && pattern.test(code));
  const message = (code && texts[code]) ?? family?.[1] ?? 'the connection failed';
  return { code: code || name || 'Error', message };
}
