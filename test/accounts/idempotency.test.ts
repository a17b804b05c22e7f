// Generated over the rows of REST: every POST takes an idempotency key, and does once what is sent twice.

import { beforeAll, expect, test } from 'vitest';
import { routes } from '../../src/api/schema.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong } from '../support/shortened.ts';
import { argumentsOf, changed, fieldNamed } from './operations.ts';
import { requestOf } from './requests.ts';
import { fill, type Holder } from './sample-resources.ts';
import { leaveDeadLetters } from './sample-rows.ts';

const posts = routes.filter(({ method }) => method === 'POST');

let gateway: TestGateway;
let holder: Holder;
beforeAll(async () => {
  gateway = await sharedGateway();
  holder = await fill(gateway, await gateway.newAccount());
});

/** Arguments that are right in every way. */
async function rightArguments(field: string): Promise<object> {
  const { idempotencyKey, ...values } = argumentsOf(fieldNamed(field), holder);
  if (field === 'createEventSource') return changed(values, ['input', 'type'], 'domain_updated.v0');
  if (field.startsWith('retryEventDeadLetter'))
    return { ...values, ...('id' in values && { id: await leaveDeadLetters(gateway, holder.account) }) };
  return values;
}

/** How many rows `npm test` sends what is refused to, which is the same for all. */
const REFUSED_AT = 5;

test.each(posts.map((row, index) => [row.path, row, index] as const))('POST %s', async (path, row, index) => {
  const { account } = holder;
  const { accountId } = account;
  const dialect = row.extended?.isOnly ? 'extended' : undefined;
  const request = requestOf(row, await rightArguments(row.field));
  const send = (key?: string, { path: to, body } = request) =>
    account.call('POST', to, body, { dialect, headers: { 'idempotency-key': key } });
  // Whatever is done, the audit trail tells of.
  const done = () => gateway.app.prisma.auditEntry.count({ where: { accountId } });

  const first = await send(path);
  expect(first.status, first.text).toBe(row.status);
  const before = await done();
  const again = await send(path);
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  expect(await done()).toBe(before);
  if (index >= REFUSED_AT && !isLong) return;
  const other = await send(path, { path: '/vaults', body: { name: 'another request' } });
  expect(other).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_90010' } });
  expect(await send('x'.repeat(256))).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90009' } });
});
