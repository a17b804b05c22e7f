import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Authority, openAuthority } from '../../../src/edge/tls/authority.ts';
import { openCertificates } from '../../../src/edge/tls/certificates.ts';
import { dir, shown, useDirectory } from '../tls/certificates-support.ts';

useDirectory();

const NAME = 'app.example.com';

/** A gateway's certificates, of which these were uploaded. */
async function withUploaded(uploaded: Record<string, { cert: string; key: string }>, tlsDir?: string) {
  const log = { info() {}, warn() {} } as never;
  const options = { dataDir: join(dir, 'data'), tlsDir, baseDomain: 'tunnel.localhost', log };
  const made = await openCertificates({ ...options, uploaded: (name) => uploaded[name] });
  onTestFinished(() => made.close());
  return made;
}

const uploader = () => openAuthority(join(dir, 'uploader'));
const issuedBy = async (authority: Authority, name = NAME) => {
  const { cert, key } = await authority.issue([name]);
  return { cert, key };
};

test('a certificate that was uploaded for a name is shown there, and only there', async () => {
  const authority = await uploader();
  const made = await withUploaded({ [NAME]: await issuedBy(authority) });
  const { subjectaltname } = await shown(await made.secureContext(NAME, NAME), NAME, authority.file);
  expect(subjectaltname).toBe(`DNS:${NAME}`);
  const other = 'other.example.com';
  await expect(shown(await made.secureContext(other, other), other, made.caFile)).resolves.toBeDefined();
  expect(await made.secureContext(other)).toBeUndefined();
});

test('one that takes its place is shown at once; as long as none does, its context stays', async () => {
  const authority = await uploader();
  const uploaded = { [NAME]: await issuedBy(authority) };
  const made = await withUploaded(uploaded);
  const before = await made.secureContext(NAME);
  expect(await made.secureContext(NAME)).toBe(before);
  uploaded[NAME] = await issuedBy(authority);
  expect(await made.secureContext(NAME)).not.toBe(before);
});

test('the operator’s certificate for the name comes first', async () => {
  const [authority, operator] = [await uploader(), await openAuthority(join(dir, 'operator'))];
  const tlsDir = join(dir, 'tls');
  const pair = await issuedBy(operator);
  await mkdir(tlsDir);
  await writeFile(join(tlsDir, 'own.key'), pair.key);
  await writeFile(join(tlsDir, 'own.crt'), pair.cert);
  const made = await withUploaded({ [NAME]: await issuedBy(authority) }, tlsDir);
  await expect(shown(await made.secureContext(NAME), NAME, operator.file)).resolves.toBeDefined();
});
