// graphql-codegen's client preset, as the manual sets it up: it makes types of the schema and of a page's documents, which run.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { type DocumentNode, parse, print } from 'graphql';
import { beforeAll, expect, inject, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';
import { root } from '../support/root.ts';
import { codeOf } from './page-code.ts';

const documents = [
  `query Page($where: AnyEndpointWhere, $first: Int) {
    allEndpoints(where: $where, first: $first, orderBy: { field: REQUESTS_LAST_DAY, direction: DESC }) {
      nodes { ...Row } totalCount } }`,
  `fragment Row on AnyEndpoint { __typename id state since requestsLastDay principal { __typename ... on User { email role } }
    ... on Endpoint { type health { state } } ... on OfflineEndpoint { reason } }`,
  `mutation Create($input: CreateUserInput!) { createUser(input: $input) { user { id role createdAt } } }`,
];

/** Code of a page. What must not compile is said so. */
const page = `
import type { ResultOf, VariablesOf } from '@graphql-typed-document-node/core';
import { useFragment } from './gql';
import { CreateDocument, PageDocument, RowFragmentDoc } from './gql/graphql';

export const variables: VariablesOf<typeof PageDocument> = {
  where: { state: { in: ['ONLINE', 'OFFLINE'] }, requestsLastDay: { gte: 0 }, not: { type: { eq: 'EDGE' } } },
  first: 10,
};
export function shown(data: ResultOf<typeof PageDocument>): string[] {
  return (data.allEndpoints?.nodes ?? []).map((node) => {
    const row = useFragment(RowFragmentDoc, node);
    const since: string = row.since;
    const about = row.__typename === 'Endpoint' ? row.health.state : row.reason;
    const isAdmin = row.principal?.__typename === 'User' && row.principal.role === 'ADMIN';
    return [row.state, about, row.requestsLastDay.toFixed(), isAdmin, since.slice(-1)].join(' ');
  });
}
export const input: VariablesOf<typeof CreateDocument> = { input: { email: 'new@example.com', role: 'MEMBER' } };
export { CreateDocument, PageDocument };

// @ts-expect-error: REST has this word.
export const lowerCase: VariablesOf<typeof CreateDocument> = { input: { email: 'new@example.com', role: 'member' } };
// @ts-expect-error: it is no state.
export const unknown: VariablesOf<typeof PageDocument> = { where: { state: { eq: 'AWAY' } } };
// @ts-expect-error: a number is no text.
export const wrong: VariablesOf<typeof PageDocument> = { where: { requestsLastDay: { gte: '0' } } };
`;

let account: Account;
// biome-ignore lint/suspicious/noExplicitAny: the module of the page.
let compiled: any;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
  const place = await mkdtemp(join(inject('run'), 'client-preset-'));
  await symlink(join(root, 'node_modules'), join(place, 'node_modules'));
  const { generates } = JSON.parse(codeOf('Types', 'json')[0] ?? '');
  expect(generates).toEqual({ 'src/gql/': { preset: 'client' } });
  const clients = await readFile(join(root, 'src/manual/clients.md'), 'utf8');
  const [, scalars = ''] = /```yaml\n(config:\n {2}strictScalars[\s\S]*?)```/.exec(clients) ?? [];
  const schema = parse(await readFile(join(root, 'schema.graphql'), 'utf8'));
  const files = await preset.buildGeneratesSection({
    baseOutputDir: join(place, 'src/gql/'),
    ...{ schema, documents: documents.map((text) => ({ location: 'page.ts', rawSDL: text, document: parse(text) })) },
    ...{ plugins: [], pluginMap: {}, presetConfig: {}, config: parseYaml(scalars).config },
  });
  for (const file of files) {
    await mkdir(dirname(file.filename), { recursive: true });
    await writeFile(file.filename, await codegen(file));
  }
  await writeFile(join(place, 'src/page.ts'), page);
  await writeFile(join(place, 'package.json'), '{ "type": "commonjs" }');
  const compilerOptions = {
    ...{ strict: true, module: 'nodenext', target: 'es2022', outDir: 'out', rootDir: 'src' },
    types: [],
  };
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const mistakes = await promisify(execFile)(process.execPath, [compiler, '-p', place]).then(
    () => '',
    ({ stdout }) => stdout,
  );
  expect(mistakes).toBe('');
  compiled = createRequire(import.meta.url)(join(place, 'out/page.js'));
}, 60_000);

async function run(document: DocumentNode, variables: object) {
  const { body } = await account.graphql(print(document), variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

test('what it makes of the schema and of documents compiles, with words and scalars of the right types', () => {
  expect(Object.keys(compiled)).toContain('PageDocument');
});

test('the documents run, and their answers are of the types', async () => {
  const { createUser } = await run(compiled.CreateDocument, compiled.input);
  expect(createUser.user.role).toBe('MEMBER');
  expect((await account.call('POST', '/cloud_endpoints', { url: 'http://gadget.internal' })).status).toBe(201);
  expect(compiled.shown(await run(compiled.PageDocument, compiled.variables))).toEqual(['ONLINE LIVE 0 false Z']);
});
