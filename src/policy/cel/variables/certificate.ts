// A certificate as expressions see it. Its parts are read when they are asked for.

import type { X509Certificate as NodeCertificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { CelInput } from '@bufbuild/cel';
import type { GeneralNameType, X509Certificate } from '@peculiar/x509';
import { x509 } from '../../../runtime/x509.ts';

/** The members of a distinguished name, and what their attributes are called in certificates. */
export const NAME_MEMBERS = {
  country: 'C',
  organization: 'O',
  organizational_unit: 'OU',
  locality: 'L',
  province: 'ST',
  postal_code: 'postalCode',
  street_address: 'street',
} as const;

/** The members of the alternative names, and what their kinds are called. */
export const ALTERNATIVE_NAMES = {
  dns_names: 'dns',
  email_addresses: 'email',
  ip_addresses: 'ip',
  uris: 'url',
} as const;

export interface Name {
  /** `CN=device 7,O=Example,C=DE`: the most specific part first (RFC 4514). */
  text: string;
  commonName: string;
  /** The values of an attribute. */
  all(attribute: string): string[];
}

export class CertificateView {
  readonly #certificate: NodeCertificate;
  #subject: Name | undefined;
  #issuer: Name | undefined;
  #parsed: X509Certificate | undefined;

  constructor(certificate: NodeCertificate) {
    this.#certificate = certificate;
  }

  get subject(): Name {
    this.#subject ??= nameOf(this.#certificate.subject, this.#certificate.toLegacyObject().subject);
    return this.#subject;
  }

  get issuer(): Name {
    this.#issuer ??= nameOf(this.#certificate.issuer, this.#certificate.toLegacyObject().issuer);
    return this.#issuer;
  }

  /** `DNS:example.com, IP Address:192.0.2.1` */
  get alternativeNames(): string {
    return this.#certificate.subjectAltName ?? '';
  }

  alternativeNamesOf(kind: GeneralNameType): string[] {
    const names = this.#extensions.getExtension(x509().SubjectAlternativeNameExtension)?.names.items ?? [];
    return names.flatMap((name) => (name.type === kind ? name.value : []));
  }

  /** Hexadecimal, in lower case. */
  get serialNumber(): string {
    return this.#certificate.serialNumber.toLowerCase();
  }

  /** `SHA256-RSA`, `ECDSA-SHA256`, `Ed25519` */
  get signatureAlgorithm(): string {
    const { name, hash } = this.#extensions.signatureAlgorithm;
    const digest = hash?.name.replace('-', '') ?? '';
    if (name === 'RSASSA-PKCS1-v1_5') return `${digest}-RSA`;
    if (name === 'RSA-PSS') return `${digest}-RSAPSS`;
    return name === 'ECDSA' ? `ECDSA-${digest}` : name;
  }

  /** In milliseconds since 1970. */
  get notBefore(): number {
    return Date.parse(this.#certificate.validFrom);
  }

  get notAfter(): number {
    return Date.parse(this.#certificate.validTo);
  }

  get extensions(): CelInput[] {
    return this.#extensions.extensions.map(({ type, critical, value }) => ({
      id: type,
      critical,
      value: new Uint8Array(value),
    }));
  }

  get pem(): string {
    return this.#certificate.toString();
  }

  get #extensions(): X509Certificate {
    this.#parsed ??= new (x509().X509Certificate)(this.#certificate.raw);
    return this.#parsed;
  }
}

type Both = Partial<Record<'client' | 'server', CertificateView>>;

const known = new WeakMap<TLSSocket, Both>();

/** @returns undefined without TLS, and where that side showed none. */
export function certificateOf(tls: TLSSocket | undefined, side: 'client' | 'server'): CertificateView | undefined {
  if (!tls) return undefined;
  let both = known.get(tls);
  if (!both) {
    both = {};
    known.set(tls, both);
  }
  if (!both[side]) {
    const certificate = side === 'client' ? tls.getPeerX509Certificate?.() : tls.getX509Certificate?.();
    if (certificate) both[side] = new CertificateView(certificate);
  }
  return both[side];
}

/** A certificate may have no name at all, but those in subjectAltName. */
function nameOf(lines: string | undefined, attributes: object | undefined): Name {
  const all = (attribute: string): string[] => {
    const value: string | string[] | undefined = (attributes as Record<string, string | string[]> | undefined)?.[
      attribute
    ];
    return value === undefined ? [] : [value].flat();
  };
  return { text: (lines ?? '').split('\n').reverse().join(','), commonName: all('CN').at(-1) ?? '', all };
}
