// What a node says of itself to Prometheus: its connections to the database, its lease, its certificates.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { done } from '../../live/edges/support.ts';
import { reserve } from '../../support/agents/live.ts';
import { eventually } from '../../support/eventually.ts';
import { startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { type Identity, type Issuer, inDays, newIssuer } from '../../support/issuer.ts';
import { type Samples, samples } from '../../support/load/metrics.ts';

const EXPIRY = 'gateway_certificate_expiry_timestamp_seconds';

let place: Place;
beforeAll(async () => {
  place = await newPlace();
});
afterAll(() => place?.remove());

describe('a node', () => {
  const POOL = onServer ? 3 : 1;
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ DATABASE_POOL: '3' }, { place });
  });
  afterAll(() => gateway?.close());

  test('tells connections in use and statements that wait; and all else while there is none left', async () => {
    const { prisma } = gateway.app;
    const connections = async () => {
      const { value } = await samples(gateway.admin);
      const of = (state: string) => value('gateway_database_connections', { state });
      const max = value('gateway_database_connections_max');
      return { max, inUse: of('in_use'), idle: of('idle'), waiting: value('gateway_database_waiting') };
    };
    await eventually(async () => expect(await connections()).toMatchObject({ max: POOL, inUse: 0, waiting: 0 }));

    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const options = { timeout: 60_000, maxWait: 60_000 };
    const holding = Array.from({ length: POOL }, () => {
      let has = () => {};
      const begun = new Promise<void>((resolve) => {
        has = resolve;
      });
      const done = prisma.$transaction(async (tx) => {
        await tx.$queryRaw`SELECT 1`;
        has();
        await held;
      }, options);
      return { begun, done };
    });
    await Promise.all(holding.map(({ begun }) => begun));
    const next = prisma.$queryRaw`SELECT 1`;
    next.then(() => {}); // It is sent when it is asked for.
    try {
      // What the gateway does by itself may wait, too.
      const { inUse, idle, waiting } = await connections();
      expect({ inUse, idle }).toEqual({ inUse: POOL, idle: 0 });
      expect(waiting).toBeGreaterThanOrEqual(1);
    } finally {
      letGo();
    }
    await Promise.all([next, ...holding.map(({ done }) => done)]);
    await eventually(async () => expect(await connections()).toMatchObject({ inUse: 0, waiting: 0 }));
  });

  test('tells that it is ready, hears others, has renewed its lease, and what memory there is', async () => {
    const { value } = await samples(gateway.admin);
    expect(value('gateway_ready')).toBe(1);
    expect(value('gateway_database_listening')).toBe(1);
    expect(value('gateway_node_lease_duration_seconds')).toBe(5);
    expect(value('gateway_memory_limit_bytes')).toBeGreaterThan(value('process_resident_memory_bytes'));
    expect(value('gateway_heap_limit_bytes')).toBeGreaterThan(value('nodejs_heap_size_used_bytes'));
    // It grows, and begins anew: the lease is renewed every third of it.
    const ages: number[] = [];
    await eventually(async () => {
      ages.push((await samples(gateway.admin)).value('gateway_node_lease_age_seconds'));
      expect(ages.some((age, at) => at > 0 && age < (ages[at - 1] as number))).toBe(true);
    });
  });
});

describe('certificates', () => {
  let issuer: Issuer;
  let gateway: TestGateway;
  let own: Place;
  beforeAll(async () => {
    issuer = await newIssuer('CN=An authority');
    own = await newPlace();
    const put = async (name: string, { cert, key }: Identity) => {
      await writeFile(join(own.dataDir, `${name}.crt`), cert);
      await writeFile(join(own.dataDir, `${name}.key`), key);
    };
    const issue = (dns: string, days: number) =>
      issuer.issue({ subject: `CN=${dns}`, dns: [dns], purpose: 'server', notAfter: inDays(days) });
    for (let i = 1; i <= 25; i++) await put(`file-${i}`, await issue(`file-${i}.example.com`, 27 + i));
    await put('outlasted', await issue('file-25.example.com', 1));
    gateway = await startTestGateway({ TLS_DIR: own.dataDir }, { place: own, counting: true });
  });
  afterAll(async () => {
    await gateway?.close();
    await own?.remove();
  });

  /** The days that are left, by id. */
  const daysOf = ({ series }: Samples, source: string) =>
    Object.fromEntries(
      series(EXPIRY)
        .filter(({ labels }) => labels.source === source)
        .map(({ labels, value }) => [labels.id, Math.round((value - Date.now() / 1000) / 86_400)]),
    );

  test('of the gateway itself, and of the operator’s files those that end first, are told one by one', async () => {
    const told = await samples(gateway.admin);
    expect(daysOf(told, 'authority')).toEqual({ 'ca.pem': 3650 });
    expect(daysOf(told, 'listener')).toEqual({ default: 90 });
    const files = daysOf(told, 'directory');
    expect(Object.keys(files)).toHaveLength(20);
    expect(files).toMatchObject({ 'file-1.crt': 28, 'file-20.crt': 47 });
    // What another of the same name outlasts is not shown.
    expect(files).not.toHaveProperty(['outlasted.crt']);
    expect(told.value('gateway_certificates', { state: 'expiring' })).toBe(3);
    expect(told.value('gateway_certificates', { state: 'expired' })).toBe(0);
  });

  test('that were uploaded are told when they are on a domain, and counted when they end', async () => {
    const { app, accountId } = gateway;
    const counts = ({ value }: Samples) =>
      ['expiring', 'expired'].map((state) => value('gateway_certificates', { state }));
    const [expiring = 0] = counts(await samples(gateway.admin));
    const { cert, key } = await issuer.issue({ dns: ['up.example.com'], purpose: 'server', notAfter: inDays(9) });
    const { id } = await done(gateway, 'POST', '/tls_certificates', { certificate_pem: cert, private_key_pem: key });
    const domain = await reserve(gateway, 'up.example.com');
    expect(daysOf(await samples(gateway.admin), 'upload')).toEqual({});

    await done(gateway, 'PATCH', `/reserved_domains/${domain}`, { certificate_id: id });
    const told = await samples(gateway.admin);
    expect(daysOf(told, 'upload')).toEqual({ [id]: 9 });
    expect(counts(told)).toEqual([expiring + 1, 0]);

    // It ends, and thousands more are uploaded: what is told has a bound, and those come first that can be replaced in time.
    await app.prisma.$executeRaw`UPDATE tls_certificate SET not_after = now() - interval '1 day' WHERE id = ${id}`;
    await app.prisma.$executeRaw`
      INSERT INTO tls_certificate (id, account_id, certificate_pem, private_key, subject, dns_names, ips,
        issuer_common_name, serial_number, private_key_type, key_usages, extended_key_usages, not_before, not_after)
      SELECT 'cert_' || n, account_id, certificate_pem, private_key, subject, dns_names, ips, issuer_common_name,
        serial_number, private_key_type, key_usages, extended_key_usages, not_before, now() + n * interval '1 hour'
      FROM tls_certificate, generate_series(1, 3000) AS n`;
    await app.prisma.$executeRaw`
      INSERT INTO reserved_domain (id, account_id, domain, certificate_id, region)
      SELECT 'rd_' || n, ${accountId}, n || '.many.example.com', 'cert_' || n, '' FROM generate_series(1, 3000) AS n`;
    await reserve(gateway, 'more.example.com');
    const many = await samples(gateway.admin);
    expect(Object.keys(daysOf(many, 'upload'))).toEqual(Array.from({ length: 20 }, (_, i) => `cert_${i + 1}`));
    expect(counts(many)).toEqual([expiring + 30 * 24, 1]);

    // As long as nothing changes the database is not asked again.
    const { statements } = gateway;
    const asked = () => statements.filter((statement) => statement.includes('FROM tls_certificate AS')).length;
    const before = asked();
    expect(before).toBeGreaterThan(0);
    for (let i = 0; i < 5; i++) expect(daysOf(await samples(gateway.admin), 'upload')).toHaveProperty('cert_1');
    expect(asked()).toBe(before);
  });
});

test.runIf(onServer)(
  'with a database that hangs all else is told in time: not ready, not listening, a lease that grows old',
  async () => {
    const own = await newPlace();
    const url = new URL(own.env.DATABASE_URL ?? '');
    const proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    const gateway = await startTestGateway({ DATABASE_URL: url.href }, { place: own });
    try {
      expect((await samples(gateway.admin)).value('gateway_ready')).toBe(1);
      proxy.shape({ outage: 'black hole' });
      const took: number[] = [];
      await eventually(
        async () => {
          const begun = performance.now();
          const { value } = await samples(gateway.admin);
          took.push(performance.now() - begun);
          expect(value('gateway_ready')).toBe(0);
          expect(value('gateway_database_listening')).toBe(0);
          expect(value('gateway_node_lease_age_seconds')).toBeGreaterThan(5);
          expect(value('gateway_database_connections', { state: 'in_use' })).toBeGreaterThan(0);
        },
        { timeout: 60_000, interval: 100 },
      );
      // Whoever collects metrics gives up after 10 s; what the gateway waits for the database is a fifth of that.
      expect(Math.max(...took)).toBeLessThan(8000);
    } finally {
      await proxy.heal();
      await gateway.close();
      await proxy.close();
      await own.remove();
    }
  },
  90_000,
);
