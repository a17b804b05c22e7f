// How long the audit trail is kept.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { sweepAudit } from '../../src/store/audit/sweep-audit.ts';
import { newId } from '../../src/store/ids.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const DAY = 24 * 3_600_000;
const ROWS = 2500;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ AUDIT_DAYS: '0' });
});
afterAll(() => gateway.close());

test('with AUDIT_DAYS=0 nothing is recorded', async () => {
  expect((await gateway.call('POST', '/ip_policies', {})).status).toBe(201);
  expect(await gateway.app.prisma.auditEntry.count()).toBe(0);
});

test('entries are deleted once they are too old, in batches, and no sooner', async () => {
  const { prisma } = gateway.app;
  const { accountId } = gateway;
  const now = Date.now();
  const ids = Array.from({ length: ROWS }, () => newId('au', now));
  await prisma.$executeRaw`
    INSERT INTO audit_entry (id, account_id, source, action, kind, object_id, created_at)
    SELECT id, ${accountId}, 'API', 'CREATED', 'credential', 'cr_1', now() FROM unnest(${ids}::text[]) AS id`;
  await sweepAudit(prisma, 90, now + 89 * DAY);
  expect(await prisma.auditEntry.count()).toBe(ROWS);
  await sweepAudit(prisma, 90, now + 91 * DAY);
  expect(await prisma.auditEntry.count()).toBe(0);
});
