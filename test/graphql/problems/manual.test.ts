// What the manual says of the problems of an input, held against the gateway.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Account, sharedGateway } from '../../support/gateway/gateway.ts';
import { root } from '../../support/root.ts';

const page = readFileSync(join(root, 'src/manual/clients.md'), 'utf8');
const section = page.slice(page.indexOf('### All problems of an input'), page.indexOf('## Limits of GraphQL'));
const [, mutation = ''] = /```graphql\n([^`]*)```/.exec(section) ?? [];
const [problems, details] = [...section.matchAll(/```json\n([^`]*)```/g)].map(([, json = '']) => JSON.parse(json));

let account: Account;
beforeAll(async () => {
  account = await (await sharedGateway()).newAccount();
});

test('the example of the manual is what GraphQL answers', async () => {
  const { body } = await account.graphql(mutation);
  expect(body.errors[0].extensions.problems).toEqual(problems);
});

test('the example of the manual is what REST answers', async () => {
  const rule = { ip_policy_id: 'ipp_none', cidr: '10.0.0.1/8', action: 'allow' };
  const { body } = await account.call('POST', '/ip_policy_rules', rule);
  expect(body.details).toEqual({ operation_id: expect.any(String), ...details });
});
