// Whether visitors can follow a certificate, with those that it comes with, to a root that they have.

import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The subjects of publicly trusted roots, which are read when they are first asked for. */
let rootSubjects: ReadonlySet<string> | undefined;

/**
 * The issuer that visitors may not have: the chain ends below it, and it is no publicly trusted root. Names alone decide, so it is a
 * warning and no verdict: newer roots, and those of a company, are not known here.
 * @param chain certificates in PEM, the leaf first.
 * @returns its name, one attribute a line, as in `C=US\nCN=R11`; undefined where visitors have all that they need.
 */
export function unknownIssuer(chain: string): string | undefined {
  rootSubjects ??= new Set(rootCertificates.map((root) => new X509Certificate(root).subject));
  const certificates = (chain.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
  for (const { subject, issuer } of certificates)
    if (subject === issuer || rootSubjects.has(subject) || rootSubjects.has(issuer)) return undefined;
  return certificates.at(-1)?.issuer;
}
