// What a start prints, and when it refuses.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onServer, startTestGateway } from '../support/gateway.ts';
import { migrations, newPlace, type Place } from '../support/place.ts';
import { runRefused, startProcess } from '../support/process.ts';

const STARTS_A_PROCESS = { timeout: 60_000 };
const STACK = /^\s+at .*\.js:\d+/m;
const READY = /^ready api=http:\/\/127\.0\.0\.1:\d+ admin=http:\/\/127\.0\.0\.1:\d+$/;

async function withPlace(work: (place: Place) => Promise<void>, empty = false): Promise<void> {
  const place = await newPlace({ empty });
  await work(place).finally(() => place.remove());
}

test(
  'the first start, on an empty database, prints both secrets, ready, and a curl that works; later ones no secret',
  STARTS_A_PROCESS,
  () =>
    withPlace(async (place) => {
      const first = await startProcess({}, place);
      try {
        const [apiKey, authtoken, ready, ...after] = first.stdout;
        expect(apiKey).toMatch(/^API key: [0-9A-Za-z]{27}_[0-9A-Za-z]{22,}$/);
        expect(authtoken).toMatch(/^Authtoken: [0-9A-Za-z]{27}_[0-9A-Za-z]{22,}$/);
        expect(ready).toMatch(READY);
        for (const line of first.stderr) expect(() => JSON.parse(line)).not.toThrow();

        const curl = after.find((line) => line.trim().startsWith('curl ')) ?? '';
        const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} -s`]);
        expect(JSON.parse(stdout)).toMatchObject({ id: expect.stringMatching(/^cr_/), token: expect.any(String) });
        const { body } = await first.call('GET', '/credentials');
        expect(body.credentials.map(({ description }: { description: string }) => description)).toContain(
          'first agent',
        );
        expect(await first.kill('SIGTERM')).toBe(0);

        const second = await first.restart();
        expect(second.stdout[0]).toMatch(READY);
        expect(second.stdout.filter((line) => /^(API key|Authtoken):/.test(line))).toEqual([]);
        expect((await second.call('GET', '/credentials')).body.credentials).toHaveLength(2);
        await second.kill('SIGTERM');
      } finally {
        await first.kill();
      }
    }, true),
);

test('an API key of the operator’s choice works and is not printed', STARTS_A_PROCESS, () =>
  withPlace(async (place) => {
    const key = 'chosen-by-the-operator!';
    const gateway = await startProcess({ INITIAL_API_KEY: key }, place);
    try {
      expect(gateway.stdout[0]).toMatch(/^Authtoken: /);
      expect(gateway.stdout[1]).toMatch(READY);
      expect([...gateway.stdout, ...gateway.stderr].join('\n')).not.toContain(key);
      expect((await gateway.call('GET', '/credentials')).status).toBe(200);
    } finally {
      await gateway.kill();
    }
  }),
);

describe('on data that another start made', () => {
  let place: Place;
  beforeAll(async () => {
    place = await newPlace();
    await (await startTestGateway({}, { place })).close();
  });
  afterAll(() => place.remove());

  test('a later INITIAL_API_KEY changes nothing', async () => {
    const again = await startTestGateway({ INITIAL_API_KEY: 'another-key-entirely' }, { place });
    try {
      expect(again.first).toBeNull();
      expect((await again.call('GET', '/credentials')).status).toBe(401);
    } finally {
      await again.close();
    }
  });

  test('a start is refused when the database belongs to another server key', STARTS_A_PROCESS, async () => {
    const { code, stdout, stderr } = await runRefused({
      ...place.env,
      SERVER_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('SERVER_KEY');
    expect(stderr).toMatch(/another server key/);
    expect(stderr).not.toMatch(STACK);
  });

  test('a start is refused when the database is newer than the code', async () => {
    const older = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    const [migration = ''] = await readdir(migrations);
    await expect(startTestGateway({}, { place, migrations: older })).rejects.toThrow(
      new RegExp(`newer than this gateway: it has ${migration}`),
    );
    await rm(older, { recursive: true });
  });
});

describe('a start is refused, in words,', STARTS_A_PROCESS, () => {
  test('when the configuration is wrong: every variable is named', async () => {
    const { code, stdout, stderr } = await runRefused({
      API_PORT: 'many',
      LOG_LEVEL: 'loud',
      DATA_DIR: '/nonexistent',
    });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^API_PORT .+$/m);
    expect(stderr).toMatch(/^LOG_LEVEL .+$/m);
    expect(stderr).not.toMatch(STACK);
  });

  test('when its port is taken: the address and what to set are named', () =>
    withPlace(async (place) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const { code, stderr } = await runRefused({ ...place.env, API_PORT: String(port) });
      taken.close();
      expect(code).toBe(1);
      expect(stderr).toContain(`127.0.0.1:${port}`);
      expect(stderr).toContain('API_PORT');
      expect(stderr).not.toMatch(STACK);
    }));

  test.each(['API_PORT', 'ADMIN_PORT'])(
    'and when %s is taken on the first start, the next one shows the secrets',
    (name) =>
      withPlace(async (place) => {
        const taken = createServer().listen(0, '127.0.0.1');
        await once(taken, 'listening');
        const { port } = taken.address() as AddressInfo;
        const { code } = await runRefused({ ...place.env, [name]: String(port) });
        taken.close();
        expect(code).toBe(1);
        const gateway = await startProcess({}, place);
        try {
          expect(gateway.apiKey).toBeDefined();
          expect((await gateway.call('GET', '/credentials')).status).toBe(200);
        } finally {
          await gateway.kill();
        }
      }),
  );

  test.skipIf(onServer)('when another process has the embedded database, which goes on', () =>
    withPlace(async (place) => {
      const gateway = await startProcess({}, place);
      try {
        const { code, stderr } = await runRefused(place.env);
        expect(code).toBe(1);
        expect(stderr).toContain(place.dataDir);
        expect(stderr).toContain(`pid ${gateway.pid}`);
        expect(stderr).not.toMatch(STACK);
        expect((await gateway.call('GET', '/credentials')).status).toBe(200);
      } finally {
        await gateway.kill();
      }
    }),
  );

  test('when no database answers', async () => {
    const { code, stderr } = await runRefused({ DATABASE_URL: 'postgresql://127.0.0.1:1/x', DATA_DIR: '/tmp' });
    expect(code).toBe(1);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).not.toMatch(STACK);
  });
});
