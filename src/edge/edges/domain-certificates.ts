// The certificates of reserved domains, and of the gateway's own names, by the names that they are shown for.

import type { DomainCertificate } from './edge-config.ts';

export class DomainCertificates {
  readonly #byDomain = new Map<string, DomainCertificate>();

  /** The same object as long as it is the same certificate: contexts of TLS are kept by it. */
  find(name: string): DomainCertificate | undefined {
    return this.#byDomain.get(name) ?? this.#byDomain.get(`*${name.slice(name.indexOf('.'))}`);
  }

  /** @param domainIds of the domains whose certificates these are all; null: of all domains. */
  replace(domainIds: readonly string[] | null, certificates: readonly DomainCertificate[]): void {
    const given = new Set(certificates.map(({ domain }) => domain));
    const loaded = domainIds && new Set(domainIds);
    if (loaded?.size !== 0)
      for (const [domain, { domainId }] of this.#byDomain)
        if ((!loaded || loaded.has(domainId)) && !given.has(domain)) this.#byDomain.delete(domain);
    for (const certificate of certificates) {
      const known = this.#byDomain.get(certificate.domain);
      if (known?.cert !== certificate.cert || known.key !== certificate.key || known.domainId !== certificate.domainId)
        this.#byDomain.set(certificate.domain, certificate);
    }
  }
}
