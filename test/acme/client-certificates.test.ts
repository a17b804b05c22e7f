// What the ACME client makes of certificates and keys, compared with what RFCs and Node say of them.

import { createHash, createPrivateKey, createPublicKey, X509Certificate as NodeCertificate } from 'node:crypto';
import 'reflect-metadata'; // What the next import is built with asks for it.
import {
  AuthorityKeyIdentifierExtension,
  type Extension,
  Pkcs10CertificateRequest,
  type SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { expect, test } from 'vitest';
import { AccountKey, newAccountKey } from '../../src/acme/client/account-key.ts';
import { alternatesOf, isIssuedBy, parseChain } from '../../src/acme/client/certificate-chain.ts';
import { newCertificateRequest } from '../../src/acme/client/certificate-request.ts';
import { ariCertificateId } from '../../src/acme/client/renewal-information.ts';
import { retryAfterMs } from '../../src/acme/client/retry-after.ts';
import { tlsAlpnCertificate } from '../../src/acme/client/tls-alpn-certificate.ts';
import { newKeyPair } from '../../src/runtime/issue-certificates.ts';
import { newIssuer } from '../support/issuer.ts';

async function certificateWith(serialNumber: string, extensions: Extension[]): Promise<string> {
  const keys = await newKeyPair();
  const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
  const made = await X509CertificateGenerator.createSelfSigned({ serialNumber, keys, signingAlgorithm, extensions });
  return made.toString('pem');
}

test('the id of a certificate is that of the example in RFC 9773, section 4.1', async () => {
  const keyId = new AuthorityKeyIdentifierExtension('69885b6b87464041e1b37b847ba0ae2cde01c8d4');
  expect(ariCertificateId(await certificateWith('0087654321', [keyId]))).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});

test.each([
  { serial: '01', id: 'AQ' },
  { serial: '7f', id: 'fw' },
  { serial: '80', id: 'AIA' },
  { serial: '4000', id: 'QAA' },
])('a serial number $serial has the octets that it has in DER', async ({ serial, id }) => {
  const pem = await certificateWith(serial, [new AuthorityKeyIdentifierExtension('aa')]);
  expect(ariCertificateId(pem)).toBe(`qg.${id}`);
});

test('a certificate that does not name the key of its issuer has no id', async () => {
  const pem = await certificateWith('01', []);
  expect(() => ariCertificateId(pem)).toThrow('does not name the key of its issuer');
});

test.each([
  { keyType: 'ecdsa' as const, key: { asymmetricKeyType: 'ec', asymmetricKeyDetails: { namedCurve: 'prime256v1' } } },
  { keyType: 'rsa' as const, key: { asymmetricKeyType: 'rsa', asymmetricKeyDetails: { modulusLength: 2048 } } },
])('a request with a key of $keyType is signed, and has its names but no common name', async ({ keyType, key }) => {
  const names = [`${'a'.repeat(63)}.example.com`, '*.example.com'];
  const { csr, privateKeyPem } = await newCertificateRequest(names, keyType);
  const request = new Pkcs10CertificateRequest(Uint8Array.from(csr));
  expect(await request.verify()).toBe(true);
  expect(request.subject).toBe('');
  const extension = request.getExtension('2.5.29.17') as SubjectAlternativeNameExtension;
  expect(extension.names.items.map(({ type, value }) => [type, value])).toEqual(names.map((name) => ['dns', name]));
  const privateKey = createPrivateKey(privateKeyPem);
  expect(privateKey).toMatchObject(key);
  const own = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
  expect(createPublicKey(privateKey).equals(own)).toBe(true);
});

test('the certificate for tls-alpn-01 is for one name, with the digest in a critical extension', async () => {
  const { cert, key } = await tlsAlpnCertificate('a.example.com', 'token.thumbprint');
  const node = new NodeCertificate(cert);
  expect(node.subjectAltName).toBe('DNS:a.example.com');
  expect(node.checkPrivateKey(createPrivateKey(key))).toBe(true);
  const extension = new X509Certificate(cert).getExtension('1.3.6.1.5.5.7.1.31');
  expect(extension?.critical).toBe(true);
  const digest = createHash('sha256').update('token.thumbprint').digest('hex');
  expect(Buffer.from(extension?.value ?? new ArrayBuffer(0)).toString('hex')).toBe(`0420${digest}`);
});

test('tokens are answered with the thumbprint of the key, and only tokens are', async () => {
  const key = new AccountKey(await newAccountKey());
  const answer = await key.keyAuthorization('evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA');
  expect(answer).toMatch(/^evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA\.[\w-]{43}$/);
  expect(await key.dnsValue('evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA')).toBe(
    createHash('sha256').update(answer).digest('base64url'),
  );
  await expect(key.keyAuthorization('../../etc/passwd')).rejects.toThrow('must be base64url');
});

test('a chain is read with the words around it, and junk is none', async () => {
  const issuer = await newIssuer('CN=Root, O=Example');
  const { cert } = await issuer.issue();
  const answer = { url: 'https://ca.example/certificate/1', status: 200, headers: {} };
  const chain = parseChain({ ...answer, body: `subject=x\n${cert}\r\n${issuer.cert}` });
  expect(chain.match(/BEGIN/g)).toHaveLength(2);
  expect(isIssuedBy(chain, 'Root')).toBe(true);
  expect(isIssuedBy(chain, 'Roo')).toBe(false);
  for (const body of ['', '<html>', cert.replace(/[A-Z]{8}/g, '????????')])
    expect(() => parseChain({ ...answer, body })).toThrow(
      'The ACME server at ca.example did not answer with a chain of certificates in PEM.',
    );
});

test.each([
  { link: '<https://ca.example/2>;rel="alternate"', found: ['https://ca.example/2'] },
  { link: '<1/1>; title="a, b"; rel=alternate, <../dir>;rel="index"', found: ['https://ca.example/certificate/1/1'] },
  {
    link: '<a>; rel="index", <b>; rel="up alternate", <c>;rel="alternate"',
    found: ['https://ca.example/certificate/b', 'https://ca.example/certificate/c'],
  },
  { link: '<a>; rel="alternates"', found: [] },
  { link: undefined, found: [] },
])('the alternates of $link', ({ link, found }) => {
  const answer = { url: 'https://ca.example/certificate/1', status: 200, headers: { link }, body: '' };
  expect(alternatesOf(answer)).toEqual(found);
});

test.each([
  { value: '120', date: undefined, ms: 120_000 },
  { value: '0', date: undefined, ms: 0 },
  { value: 'Fri, 31 Dec 1999 23:59:59 GMT', date: 'Fri, 31 Dec 1999 23:59:29 GMT', ms: 30_000 },
  { value: 'Fri, 31 Dec 1999 23:59:59 GMT', date: undefined, ms: 0 },
  { value: '9'.repeat(400), date: undefined, ms: 365 * 86_400_000 },
  { value: 'soon', date: undefined, ms: undefined },
  { value: '-1', date: undefined, ms: undefined },
  { value: undefined, date: undefined, ms: undefined },
])('Retry-After $value is $ms milliseconds', ({ value, date, ms }) => {
  expect(retryAfterMs({ 'retry-after': value, date })).toBe(ms);
});
