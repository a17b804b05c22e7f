// Documents that the operator registers run by their digest, also where no other document does.

import { createHash } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readRegisteredDocuments } from '../../src/api/graphql/registered-documents.ts';
import { refusal, signedIn, startWithDashboard } from '../sign-in/browser.ts';
import type { TestGateway } from '../support/gateway/gateway.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const documents = {
  file: 'query File { credentials(first: 1) { totalCount } }\n',
  preset: 'query Preset($first: Int) { apiKeys(first: $first) { nodes { id } } }',
  apollo: 'query Apollo { vaults { totalCount } }',
  old: 'query Old { gone { id } }',
};

async function directoryOf(files: Record<string, unknown>): Promise<string> {
  const directory = await mkdtemp(join(inject('run'), 'documents-'));
  for (const [name, content] of Object.entries(files))
    await writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  return directory;
}

const byDigest = (...texts: string[]) => Object.fromEntries(texts.map((text) => [sha256(text), text]));
const apollo = (id: string, body: string) => ({
  ...{ format: 'apollo-persisted-query-manifest', version: 1 },
  operations: [{ id, name: 'Apollo', type: 'query', body }],
});

let gateway: TestGateway;
beforeAll(async () => {
  const directory = await directoryOf({
    'one.graphql': documents.file,
    'persisted-documents.json': byDigest(documents.preset, documents.old),
    'manifest.json': apollo(sha256(documents.apollo), documents.apollo),
    'notes.txt': 'not one',
    '.hidden.json': 'not one',
  });
  gateway = await startWithDashboard({ PERSISTED_DOCUMENTS_DIR: directory });
});
afterAll(() => gateway?.close());

async function post(body: object) {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${gateway.api}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.json();
}
const named = (text: string, more: object = {}) => ({ documentId: `sha256:${sha256(text)}`, ...more });

test('each is run by its digest, however it was registered, and as an automatic persisted query', async () => {
  expect(await post(named(documents.file))).toEqual({ data: { credentials: { totalCount: 1 } } });
  const { data } = await post(named(documents.preset, { variables: { first: 1 } }));
  expect(data.apiKeys.nodes).toHaveLength(1);
  const automatic = { extensions: { persistedQuery: { version: 1, sha256Hash: sha256(documents.apollo) } } };
  expect(await post(automatic)).toEqual({ data: { vaults: { totalCount: 0 } } });
});

test('in a browser session they run, and no other does', async () => {
  const browser = await signedIn(gateway, gateway.key, gateway.ownerId, gateway.api);
  expect((await browser.post(named(documents.file))).body).toEqual({ data: { credentials: { totalCount: 1 } } });
  const automatic = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } } });
  expect((await browser.post(automatic(documents.apollo))).body.data).toEqual({ vaults: { totalCount: 0 } });
  const other = '{ credentials { totalCount } }';
  for (const body of [{ query: other }, { query: other, ...automatic(other) }])
    expect(refusal(await browser.post(body))).toBe('FORBIDDEN ERR_GATEWAY_90202');
});

test('one that the schema does not fit is a warning at the start, and its mistake an answer', async () => {
  const warnings = () => gateway.logs.filter((line) => line.includes('does not fit the schema'));
  await expect
    .poll(() => warnings().map((line) => JSON.parse(line).documentId))
    .toEqual([named(documents.old).documentId]);
  const { errors } = await post(named(documents.old));
  expect(errors[0].message).toContain('Cannot query field "gone"');
});

test.each([
  ['a digest of another text', { 'a.json': { [sha256('x')]: documents.file } }, 'is not the SHA-256 of its document'],
  ['a digest of another kind', { 'a.json': { '0f343b0931126a20f133d67c2b018a3b': 'x' } }, 'is not the SHA-256'],
  ['a list', { 'a.json': [] }, 'it must be an object of documents by their SHA-256'],
  ['what is no JSON', { 'a.json': '{' }, 'a.json in PERSISTED_DOCUMENTS_DIR cannot be used'],
  ['what is no text', { 'a.json': { [sha256('1')]: 1 } }, 'a document is not a text'],
  ['a manifest without a list', { 'a.json': { ...apollo('', ''), operations: {} } }, 'its operations must be a list'],
  ['a digest in a manifest', { 'a.json': apollo('1', documents.apollo) }, '"1" is not the SHA-256'],
])('%s is refused', async (_, files, reason) => {
  await expect(readRegisteredDocuments(await directoryOf(files))).rejects.toThrow(reason);
});

test('a start is refused where there is no such directory', async () => {
  await expect(startWithDashboard({ PERSISTED_DOCUMENTS_DIR: '/none/such' })).rejects.toThrow(
    'PERSISTED_DOCUMENTS_DIR cannot be read: ENOENT',
  );
});
