// Downloads of lists: what is in them, who gets what, and that a file which is not whole does not look whole.

import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
});

async function download(path: string, { key } = account as { key: string }) {
  const response = await fetch(`${gateway.api}/export${path}`, { headers: { Authorization: `Bearer ${key}` } });
  return { status: response.status, headers: response.headers, body: await response.text() };
}
const linesOf = (body: string) =>
  body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function addCredentials(count: number, description = 'press'): Promise<string[]> {
  const { accountId, ownerId } = account;
  const ids = Array.from({ length: count }, () => newId('cr'));
  await gateway.app.prisma.$executeRaw`
    INSERT INTO credential (id, account_id, owner_id, digest, description)
    SELECT id, ${accountId}, ${ownerId}, id, ${description} FROM unnest(${ids}::text[]) AS id`;
  return ids;
}

describe('the rows', () => {
  test('in JSON lines are those of REST, one a line, in the order asked for', async () => {
    for (const description of ['b', 'c', 'a']) await account.call('POST', '/credentials', { description, acl: ['*'] });
    const { body } = await account.call('GET', '/credentials?order_by=description');
    const { headers, body: lines } = await download('/credentials?format=jsonl&order_by=description');
    expect(linesOf(lines)).toEqual(body.credentials);
    expect(headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
    const date = new Date(gateway.app.now()).toISOString().slice(0, 10);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="credentials-${date}.jsonl"`);
  });

  test('in CSV have a column for each member, and names with dots for members of members', async () => {
    const { body: policy } = await account.call('POST', '/ip_policies', { description: 'office, "north"' });
    const rule = { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow', description: 'line 1\nline 2' };
    await account.call('POST', '/ip_policy_rules', rule);
    const { body } = await download('/ip_policy_rules?columns=cidr,ip_policy.id,description');
    expect(body).toBe(`cidr,ip_policy.id,description\r\n192.0.2.0/24,${policy.id},"line 1\nline 2"\r\n`);
    expect((await download('/ip_policies?columns=description')).body).toBe('description\r\n"office, ""north"""\r\n');
    expect((await download('/ip_policies?filter=false')).body).toBe('id,uri,created_at,description,metadata\r\n');
  });

  test('have lists and labels as JSON', async () => {
    await account.call('POST', '/backends/tunnel_group', { labels: { app: 'shop' } });
    const { body } = await download('/backends/tunnel_group?columns=labels,tunnels');
    expect(body).toBe('labels,tunnels\r\n"{""app"":""shop""}",[]\r\n');
  });

  test('of lists without a path of REST are their plain members', async () => {
    const query =
      'mutation ($input: CreateProvisioningKeyInput!) { createProvisioningKey(input: $input) { provisioningKey { id } } }';
    await account.graphql(query, { input: { description: 'presses', labels: { site: 'berlin' } } });
    const { body } = await download('/provisioning_keys?format=jsonl');
    expect(linesOf(body)).toMatchObject([{ description: 'presses', labels: { site: 'berlin' }, uses_max: null }]);
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\nx', ' =1', '＝1', '＋1', '－1', '＠x'])(
    'a text like %j is no formula',
    async (description) => {
      await account.call('POST', '/credentials', { description });
      const { body } = await download('/credentials?columns=description');
      expect(body.replace(/^description\r\n"?/, '').startsWith(`'${description}`)).toBe(true);
    },
  );

  test('a text with what ends a cell in some spreadsheets is one cell', async () => {
    await account.call('POST', '/credentials', { description: 'a;=1\t=2' });
    const { body } = await download('/credentials?columns=description');
    expect(body).toBe('description\r\n"a;=1\t=2"\r\n');
  });

  test('are each there once, while others are added and the row is deleted at which a page ended', async () => {
    const ids = await addCredentials(1200);
    const response = await fetch(`${gateway.api}/export/credentials?format=jsonl&order_by=description`, {
      headers: { Authorization: `Bearer ${account.key}` },
    });
    await addCredentials(50);
    // By description and id: the first pages are of the oldest.
    await gateway.app.prisma.credential.deleteMany({ where: { id: { in: [ids[499] ?? '', ids[999] ?? ''] } } });
    const found = linesOf(await response.text()).map(({ id }) => id);
    expect(new Set(found).size).toBe(found.length);
    const stayed = ids.filter((_, index) => index !== 499 && index !== 999);
    expect(stayed.filter((id) => !found.includes(id))).toEqual([]);
  });
});

describe('who', () => {
  test('members get what they may see, and others of another account nothing', async () => {
    await addCredentials(2);
    const member = await account.addOwner({ role: 'MEMBER' });
    expect(linesOf((await download('/credentials?format=jsonl', member)).body)).toHaveLength(2);
    const stranger = await gateway.newAccount();
    expect((await download('/credentials?format=jsonl', stranger)).body).toBe('');
    expect((await download('/credentials', { key: 'wrong-key-0123456789' })).status).toBe(401);
  });

  test('a download is in the audit trail, with what was taken', async () => {
    await addCredentials(3);
    await download('/credentials?filter=obj.description%20%3D%3D%20%22press%22');
    const { body } = await account.graphql('{ auditEntries(first: 1) { nodes { action objectName after actorId } } }');
    expect(body.data.auditEntries.nodes[0]).toMatchObject({
      ...{ action: 'LIST_EXPORTED', objectName: 'credentials', actorId: account.ownerId },
      after: { list: 'credentials', format: 'csv', filter: 'obj.description == "press"', count: 3 },
    });
  });
});

test.each([
  { query: 'format=xml', says: 'format must be csv or jsonl.' },
  { query: 'columns=id,colour', says: 'there is no column colour; there are: id, uri' },
  { query: 'limit=5', says: 'format, filter, search, order_by, columns' },
  { query: 'filter=obj.colour%20%3D%3D%201', says: 'colour' },
  { query: 'order_by=metadata', says: 'order_by' },
])('$query is refused, with what would be right', async ({ query, says }) => {
  const { status, body } = await download(`/credentials?${query}`);
  expect(status).toBe(400);
  expect(JSON.parse(body).msg).toContain(says);
});

describe('an account has two downloads at once', () => {
  /** Begins a download and reads nothing of it. */
  function begin() {
    const asked = request(`${gateway.api}/export/credentials?format=jsonl`, {
      headers: { Authorization: `Bearer ${account.key}` },
    });
    const answered = new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve).once('error', reject);
    });
    asked.end();
    return { asked, answered };
  }

  let large: Account;
  beforeAll(async () => {
    large = await gateway.newAccount();
    account = large;
    // More than a connection takes up of what nobody reads.
    await addCredentials(6000, 'x'.repeat(255));
  });
  beforeEach(() => {
    account = large;
  });

  test('and the place of a client that has gone away is free again', async () => {
    const slow = [begin(), begin()];
    await Promise.all(slow.map(({ answered }) => answered));
    const refused = await download('/credentials');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    for (const { asked } of slow) asked.on('error', () => {}).destroy();
    await expect.poll(async () => (await download('/credentials?filter=false')).status).toBe(200);
  });

  test('a file ends with its connection when a page cannot be read', async () => {
    const { answered } = begin();
    const response = await answered;
    await gateway.app.changes.transaction(gateway.app.prisma, async (db, announce) => {
      await db.apiKey.deleteMany({ where: { accountId: account.accountId } });
      announce({ kind: 'apiKey', action: 'DELETED', id: '', accountId: account.accountId });
    });
    await expect(text(response)).rejects.toThrow('aborted');
  });
});
