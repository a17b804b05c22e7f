// A view of a certificate for expressions. Its fields are parsed at their first use.

import type { X509Certificate as NodeCertificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { CelInput } from '@bufbuild/cel';
import type { GeneralNameType, X509Certificate } from '@peculiar/x509';
import { x509 } from '../../../runtime/x509.ts';

/** The members of a distinguished name, with the names of their attributes in certificates. */
export const NAME_MEMBERS = {
  country: 'C',
  organization: 'O',
  organizational_unit: 'OU',
  locality: 'L',
  province: 'ST',
  postal_code: 'postalCode',
  street_address: 'street',
} as const;

/** The members of the subject alternative names, with the names of their kinds. */
export const ALTERNATIVE_NAMES = {
  dns_names: 'dns',
  email_addresses: 'email',
  ip_addresses: 'ip',
  uris: 'url',
} as const;

/** A distinguished name. */
export interface Name {
  /** The name as a text, as in `CN=device 7,O=Example,C=DE`, with the most specific part first (RFC 4514). */
  text: string;
  commonName: string;
  /** All values of an attribute. */
  all(attribute: string): string[];
}

/** The fields of one certificate. */
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

  /** The subject alternative names, as in `DNS:example.com, IP Address:192.0.2.1`. */
  get alternativeNames(): string {
    return this.#certificate.subjectAltName ?? '';
  }

  alternativeNamesOf(kind: GeneralNameType): string[] {
    const names = this.#extensions.getExtension(x509().SubjectAlternativeNameExtension)?.names.items ?? [];
    return names.flatMap((name) => (name.type === kind ? name.value : []));
  }

  /** The serial number in hexadecimal, in lower case. */
  get serialNumber(): string {
    return this.#certificate.serialNumber.toLowerCase();
  }

  /** The signature algorithm, as in `SHA256-RSA`, `ECDSA-SHA256` or `Ed25519`. */
  get signatureAlgorithm(): string {
    const { name, hash } = this.#extensions.signatureAlgorithm;
    const digest = hash?.name.replace('-', '') ?? '';
    if (name === 'RSASSA-PKCS1-v1_5') return `${digest}-RSA`;
    if (name === 'RSA-PSS') return `${digest}-RSAPSS`;
    return name === 'ECDSA' ? `ECDSA-${digest}` : name;
  }

  /** The start of the validity, in milliseconds since 1970. */
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

/** The certificate of one side of a connection; undefined without TLS, or when the side presented none. */
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

/** Parses a distinguished name. It may be empty, as all names can be in subjectAltName. */
function nameOf(lines: string | undefined, attributes: object | undefined): Name {
  const all = (attribute: string): string[] => {
    const value: string | string[] | undefined = (attributes as Record<string, string | string[]> | undefined)?.[
      attribute
    ];
    return value === undefined ? [] : [value].flat();
  };
  return { text: (lines ?? '').split('\n').reverse().join(','), commonName: all('CN').at(-1) ?? '', all };
}
