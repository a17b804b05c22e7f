// The variables of certificates that the gateway obtains, and of its name server.

import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { AcmeSettings } from '../acme/settings.ts';
import { flag, listValue, port } from './value-types.ts';

const addresses = listValue('').transform((list, context) => {
  for (const address of list)
    if (isIP(address) === 0)
      context.addIssue(`must be IP addresses, as 203.0.113.7 or 2001:db8::7: "${address}" is none`);
  return list;
});

export const certificateVariables = {
  ACME_TERMS_AGREED: flag.meta({
    description:
      '`true`: you have agreed to the terms of the certificate authority, and [certificates are obtained](certificates.md#turn-it-on) for reserved domains. Nothing is ordered without it',
  }),
  ACME_DIRECTORY_URL: z
    .url({ protocol: /^https?$/, error: 'must be the URL of an ACME directory' })
    .default('https://acme-v02.api.letsencrypt.org/directory')
    .meta({ description: 'directory of the certificate authority (ACME, RFC 8555)', defaultText: 'Let’s Encrypt' }),
  ACME_CA_FILE: z.string().min(1).optional().meta({
    description: 'PEM file of authorities that the directory’s own certificate may be of, in addition to those of Node',
  }),
  ACME_EMAIL: z.email({ error: 'must be an e-mail address' }).optional().meta({
    description: 'where the certificate authority reaches you',
  }),
  ACME_EAB_KID: z.string().min(1).optional().meta({
    description:
      'id of the external account, where the certificate authority wants one. Set it together with `ACME_EAB_HMAC_KEY`',
  }),
  ACME_EAB_HMAC_KEY: z
    .string()
    .regex(/^[\w+/-]+={0,2}$/, 'must be the key as the certificate authority shows it, in base64url')
    .optional()
    .meta({ description: 'its key, in base64url' }),
  ACME_PROFILE: z.string().min(1).optional().meta({
    description: 'profile to ask for, such as `shortlived`',
    defaultText: 'the authority’s own',
  }),
  ACME_PREFERRED_CHAIN: z.string().min(1).optional().meta({
    description:
      'common name of the issuer that the last certificate of the chain should have, such as `ISRG Root X1`, where the certificate authority offers [several chains](certificates.md#several-chains)',
    defaultText: 'the authority’s first choice',
  }),
  ACME_HTTP_PORT: port(80).meta({
    description:
      'port at which the certificate authority visits domains. Public ones always use 80: it must lead to `HTTP_PORT`',
  }),
  ACME_OWN_NAMES: flag.meta({
    description:
      '`true`: certificates are obtained also [for the gateway’s own names](certificates.md#certificates-of-the-gateways-own-names): `BASE_DOMAIN` with all below it, and those of `AGENT_HOSTS` and `PUBLIC_API_URL`',
  }),
  ACME_API_TLS: flag.meta({
    description:
      '`true`: the API and the dashboard speak TLS with the certificate that is obtained for the host of `PUBLIC_API_URL`. Needs `ACME_OWN_NAMES`; until it is there, they show one of the development authority',
  }),
  PUBLIC_ADDRESSES: addresses.meta({
    description: 'IP addresses at which the gateway is reached from outside; its name server tells them',
  }),
  DNS_PORT: port(0).meta({
    description:
      'port of [the gateway’s own name server](certificates.md#the-gateways-own-name-server), over UDP and TCP. Public resolvers ask at 53',
    defaultText: 'no name server',
  }),
  DNS_HOST: listValue('').meta({
    description:
      'addresses of the name server. A machine with several needs each of them here, as answers leave from the address that was asked',
    defaultText: '`HOST`',
  }),
  DNS_NAME_SERVERS: listValue('').meta({
    description: 'names of the name servers of the zones, in the order of their `NS` records',
    defaultText: '`ns1.` of each zone',
  }),
  DNS_SERVE_BASE_DOMAIN: flag.meta({
    description:
      '`true`: the name server has also `BASE_DOMAIN`, and answers with `PUBLIC_ADDRESSES` for every name below it',
  }),
};

type CertificateEnvironment = z.output<z.ZodObject<typeof certificateVariables>>;

/** @param root what a relative file is relative to. @param acmeDomain where the CNAME targets of challenges are. */
export function certificateSettings(
  e: CertificateEnvironment,
  root: string,
  acmeDomain: string,
): Omit<AcmeSettings, 'dnsServers'> {
  const { ACME_EAB_KID: kid, ACME_EAB_HMAC_KEY: hmacKeyBase64Url } = e;
  return {
    acmeDirectoryUrl: e.ACME_DIRECTORY_URL,
    acmeCaFile: e.ACME_CA_FILE && resolve(root, e.ACME_CA_FILE),
    acmeEmail: e.ACME_EMAIL,
    acmeTermsAgreed: e.ACME_TERMS_AGREED,
    acmeEab: kid && hmacKeyBase64Url ? { kid, hmacKeyBase64Url } : undefined,
    acmeProfile: e.ACME_PROFILE,
    acmePreferredChain: e.ACME_PREFERRED_CHAIN,
    acmeHttpPort: e.ACME_HTTP_PORT,
    acmeOwnNames: e.ACME_OWN_NAMES,
    ownChallengeTarget: `gateway.${acmeDomain}`,
    dnsServesBaseDomain: e.DNS_SERVE_BASE_DOMAIN,
    publicAddresses: e.PUBLIC_ADDRESSES,
  };
}

/** Why the API cannot have a certificate obtained as it was configured; undefined when it can. */
export function whyNotObtained(given: Record<string, string | undefined>): string | undefined {
  if (given.ACME_API_TLS !== 'true') return undefined;
  if (given.API_TLS_CERT !== undefined) return 'ACME_API_TLS and API_TLS_CERT exclude each other';
  if (given.ACME_TERMS_AGREED !== 'true' || given.ACME_OWN_NAMES !== 'true')
    return 'ACME_TERMS_AGREED and ACME_OWN_NAMES must be true for ACME_API_TLS';
  if (given.PUBLIC_API_URL?.startsWith('https://')) return undefined;
  return 'PUBLIC_API_URL must be set for ACME_API_TLS, and begin with https://';
}
