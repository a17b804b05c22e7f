// Reads what somebody uploads to be shown to visitors: a certificate, those that it is issued by, and its private key.

import { createPrivateKey, type KeyObject, X509Certificate as NodeCertificate, sign, verify } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { x509 } from '../../../runtime/x509.ts';
import { writtenBeside } from '../../as-written.ts';
import { rfc3339 } from '../../builder/timestamps.ts';
import { ApiError, type ErrorName, type ErrorParameters } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { checkBytes } from '../../text-limits.ts';
import { canBeKept, namePartOf, type Validity, validityOf } from './certificate.ts';
import { bytesOf, hasHeaders, pemBlocks } from './pem.ts';

const CHAIN_MAX_BYTES = 32 * 1024;
const KEY_MAX_BYTES = 16 * 1024;
/** Larger keys would take everybody's time: each handshake is a signature. */
const RSA_BITS = { min: 2048, max: 4096 };
/** The purposes that visitors accept (RFC 5280, section 4.2.1.12): serverAuth, and any. */
const SERVER_PURPOSES = ['server_auth', '2.5.29.37.0'];
/** Those that visitors know. */
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Whom a certificate names; what it does not say is "". */
export interface Subject {
  commonName: string;
  organization: string;
  organizationalUnit: string;
  locality: string;
  province: string;
  country: string;
}

export type PrivateKeyType = 'rsa' | 'ecdsa' | 'ed25519';

export interface ServerCertificate extends Validity {
  /** The leaf first. */
  certificatePem: string;
  /** As it was written, where that differs. */
  writtenPem: string | null;
  subject: Subject;
  dnsNames: string[];
  ips: string[];
  issuerCommonName: string;
  serialNumber: string;
  privateKeyType: PrivateKeyType;
}

export interface Uploaded {
  certificate: ServerCertificate;
  /** As TLS is to be given it: PKCS #8 in PEM. */
  privateKey: string;
}

/**
 * @param now the wall clock, in milliseconds: a certificate that has expired is refused, one that is not yet in force can be uploaded before it is chosen.
 * @throws {ApiError} unless TLS can be spoken with them.
 */
export function readServerCertificate(certificatePem: string, privateKeyPem: string, now: number): Uploaded {
  const { chain, key } = checkAll({ chain: () => readChain(certificatePem), key: () => readKey(privateKeyPem) });
  const facts = factsOf(chain[0]);
  if (!isKeyOf(key, chain[0])) throw ofKey('keyDiffers');
  if (facts.notAfter.getTime() <= now) throw ofChain('certificateExpired', { end: rfc3339(facts.notAfter) });
  const { extendedKeyUsages: purposes } = facts;
  if (purposes.length > 0 && !purposes.some((purpose) => SERVER_PURPOSES.includes(purpose)))
    throw ofChain('certificatePurpose');
  const cert = chain.map(String).join('');
  const privateKey = key.export({ type: 'pkcs8', format: 'pem' }) as string;
  try {
    createSecureContext({ cert, key: privateKey });
  } catch (error) {
    throw ofChain('certificateUnusable', { reason: (error as Error).message });
  }
  return {
    certificate: {
      ...facts,
      certificatePem: cert,
      writtenPem: writtenBeside(cert, certificatePem),
      privateKeyType: typeOf(key),
    },
    privateKey,
  };
}

/** @returns the certificates in their order, the leaf first. */
function readChain(pem: string): [leaf: NodeCertificate, ...above: NodeCertificate[]] {
  if (!pem.includes('-----BEGIN')) throw ofChain('certificateMissing');
  checkBytes('certificatePem', pem, CHAIN_MAX_BYTES, 'pemTooLarge');
  const [leaf, ...above] = (pemBlocks(pem) ?? []).map((block) => {
    if (block.type.endsWith('PRIVATE KEY')) throw ofChain('keyForCertificate');
    if (block.type !== 'CERTIFICATE') throw ofChain('pemWrongType', { type: block.type });
    if (hasHeaders(block)) throw ofChain('pemHeaders');
    const bytes = bytesOf(block);
    if (!bytes) throw ofChain('certificateUnreadable');
    try {
      return new NodeCertificate(bytes);
    } catch {
      throw ofChain('certificateUnreadable');
    }
  });
  if (!leaf) throw ofChain('certificateUnreadable');
  const chain: [NodeCertificate, ...NodeCertificate[]] = [leaf, ...above];
  const gap = above.findIndex((issuer, index) => !isIssuedBy(chain[index] as NodeCertificate, issuer));
  if (gap >= 0) throw ofChain('chainOrder', { position: gap + 1, next: gap + 2 });
  return chain;
}

function isIssuedBy(certificate: NodeCertificate, issuer: NodeCertificate): boolean {
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false; // Its key is of a kind that is not known here.
  }
}

function readKey(pem: string): KeyObject {
  if (!pem.includes('-----BEGIN')) throw ofKey('keyMissing');
  checkBytes('privateKeyPem', pem, KEY_MAX_BYTES, 'pemTooLarge');
  // OpenSSL writes the parameters of a curve before the key that names them again.
  const [block, ...others] = (pemBlocks(pem) ?? []).filter(({ type }) => type !== 'EC PARAMETERS');
  if (block?.type === 'CERTIFICATE') throw ofKey('certificateForKey');
  if (!block?.type.endsWith('PRIVATE KEY') || others.length > 0) throw ofKey('keyUnreadable');
  if (block.type.startsWith('ENCRYPTED') || /ENCRYPTED/.test(block.content)) throw ofKey('keyEncrypted');
  let key: KeyObject;
  try {
    key = createPrivateKey(block.text);
  } catch {
    throw ofKey('keyUnreadable');
  }
  checkKind(key);
  return key;
}

function checkKind({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): void {
  const { modulusLength: bits = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  const isRight =
    asymmetricKeyType === 'rsa'
      ? bits >= RSA_BITS.min && bits <= RSA_BITS.max
      : asymmetricKeyType === 'ed25519' || (asymmetricKeyType === 'ec' && CURVES.includes(namedCurve));
  if (!isRight) throw ofKey('keyKind');
}

function typeOf({ asymmetricKeyType }: KeyObject): PrivateKeyType {
  return asymmetricKeyType === 'ec' ? 'ecdsa' : (asymmetricKeyType as 'rsa' | 'ed25519');
}

/** Whether what the key signs is what the certificate vouches for, as in a handshake. */
function isKeyOf(key: KeyObject, certificate: NodeCertificate): boolean {
  const data = Buffer.from('proof');
  const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  try {
    return verify(algorithm, data, certificate.publicKey, sign(algorithm, data, key));
  } catch {
    return false;
  }
}

function factsOf(leaf: NodeCertificate): Omit<ServerCertificate, 'certificatePem' | 'writtenPem' | 'privateKeyType'> {
  try {
    const { SubjectAlternativeNameExtension, X509Certificate } = x509();
    const parsed = new X509Certificate(new Uint8Array(leaf.raw));
    const { subjectName, issuerName } = parsed;
    const names = parsed.getExtension(SubjectAlternativeNameExtension)?.names.items ?? [];
    const namesOf = (type: string) => names.filter((name) => name.type === type).map(({ value }) => value);
    const subject = {
      commonName: namePartOf(subjectName, 'CN'),
      organization: namePartOf(subjectName, 'O'),
      organizationalUnit: namePartOf(subjectName, 'OU'),
      locality: namePartOf(subjectName, 'L'),
      province: namePartOf(subjectName, 'ST'),
      country: namePartOf(subjectName, 'C'),
    };
    const facts = {
      ...validityOf(parsed),
      subject,
      dnsNames: namesOf('dns').map((name) => name.toLowerCase()),
      ips: namesOf('ip'),
      issuerCommonName: namePartOf(issuerName, 'CN'),
      serialNumber: leaf.serialNumber.toLowerCase(),
    };
    const texts = [...Object.values(subject), ...facts.dnsNames, ...facts.ips, facts.issuerCommonName];
    if (canBeKept(facts, texts)) return facts;
  } catch {
    // Told below: there is no other use for what a parser of another make does not like.
  }
  throw ofChain('certificateUnreadable');
}

function ofChain(error: ErrorName, parameters: ErrorParameters = {}): ApiError {
  return new ApiError(error, { member: 'certificatePem', ...parameters });
}

function ofKey(error: ErrorName): ApiError {
  return new ApiError(error, { member: 'privateKeyPem' });
}
