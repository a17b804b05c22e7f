// What a start prints, when it refuses, and how a process ends.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explain } from '../../src/process/explain.ts';
import { ADDRESS_ATTEMPT_MS } from '../../src/protocol/index.ts';
import { eventually } from '../support/eventually.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { migrations, newPlace, type Place } from '../support/gateway/place.ts';
import { type GatewayProcess, runRefused, startProcess } from '../support/gateway/process.ts';

const STARTS_A_PROCESS = { timeout: 60_000 };
const STACK = /^\s+at .*\.js:\d+/m;
const ADDRESS = '127\\.0\\.0\\.1:\\d+';
/** The form that other programs read. */
const READY = new RegExp(
  `^ready api=http://${ADDRESS} admin=http://${ADDRESS} agent=${ADDRESS} http=${ADDRESS} https=${ADDRESS} tcp=\\S+$`,
);

/** A port that another program has, for as long as the work takes. */
async function withTakenPort(work: (port: string) => Promise<void>): Promise<void> {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  await work(String((taken.address() as AddressInfo).port)).finally(() => taken.close());
}

/** What a process prints whose start is refused for this. */
const refused = (env: Record<string, string>, place: Place): Promise<string> =>
  startTestGateway(env, { place }).then(() => 'it starts', explain);

const stopping = ({ admin }: GatewayProcess) =>
  eventually(async () => {
    const answer = await fetch(`${admin}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, 'The gateway is stopping.\n']);
  });

// One process after the other on the same data, each of which is ended in another way.
describe('on an empty database', STARTS_A_PROCESS, () => {
  let place: Place;
  let gateway: GatewayProcess;
  let apiKey = '';
  beforeAll(async () => {
    place = await newPlace({ empty: true });
    gateway = await startProcess({ DRAIN_MS: '60000' }, place);
    apiKey = gateway.apiKey ?? '';
  });
  afterAll(async () => {
    await gateway?.kill();
    await place.remove();
  });

  test('the first start prints both secrets, ready, and a curl that works', async () => {
    const [key, authtoken, ready, ...after] = gateway.stdout;
    expect(key).toMatch(/^API key: [0-9A-Za-z]{27}_[0-9A-Za-z]{22,}$/);
    expect(authtoken).toMatch(/^Authtoken: [0-9A-Za-z]{27}_[0-9A-Za-z]{22,}$/);
    expect(ready).toMatch(READY);
    for (const line of gateway.stderr) expect(() => JSON.parse(line)).not.toThrow();

    const curl = after.find((line) => line.trim().startsWith('curl ')) ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', `${curl} -s`]);
    expect(JSON.parse(stdout)).toMatchObject({ id: expect.stringMatching(/^cr_/), token: expect.any(String) });
    const { body } = await gateway.call('GET', '/credentials');
    expect(body.credentials.map(({ description }: { description: string }) => description)).toContain('first agent');
  });

  test('a start is refused when another process has the embedded database, which goes on', async () => {
    const text = await refused({}, place);
    expect(text).toContain(place.dataDir);
    expect(text).toContain(`pid ${gateway.pid}`);
    expect(text).not.toMatch(STACK);
    expect((await gateway.call('GET', '/credentials')).status).toBe(200);
  });

  test('after SIGINT a second signal, SIGTERM, does not wait', async () => {
    const { hostname, port } = new URL(gateway.api);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('POST /credentials HTTP/1.1\r\nHost: x\r\n');
    expect((await gateway.call('GET', '/credentials')).status).toBe(200);
    process.kill(gateway.pid, 'SIGINT');
    await stopping(gateway);
    expect(await gateway.kill('SIGTERM')).toBe(1);
  });

  test('later starts print no secret, and have what was made', async () => {
    gateway = await gateway.restart({ DRAIN_MS: '15000' });
    expect(gateway.stdout[0]).toMatch(READY);
    expect(gateway.stdout.filter((line) => /^(API key|Authtoken):/.test(line))).toEqual([]);
    expect((await gateway.call('GET', '/credentials')).body.credentials).toHaveLength(2);
  });

  test('a request under way is answered, readiness is gone at once, and the exit code is 0', async () => {
    const { hostname, port } = new URL(gateway.api);
    const body = '{"description":"under way"}';
    const socket = connect(Number(port), hostname);
    const answer = text(socket);
    const head = [
      `POST /credentials HTTP/1.1`,
      `Host: ${hostname}`,
      `Authorization: Bearer ${apiKey}`,
      'Service-Version: 2',
    ];
    socket.write(
      [...head, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body.slice(0, 5)].join('\r\n'),
    );
    // The gateway has the head: it answers another request that came later.
    expect((await gateway.call('GET', '/credentials')).status).toBe(200);

    process.kill(gateway.pid, 'SIGTERM');
    await stopping(gateway);
    expect((await fetch(`${gateway.admin}/livez`)).status).toBe(200);
    await expect(fetch(`${gateway.api}/credentials`)).rejects.toThrow();
    socket.write(body.slice(5));
    expect(await answer).toMatch(/^HTTP\/1\.1 201 .*under way/s);
    const answered = performance.now();
    expect(await gateway.exited).toBe(0);
    expect(performance.now() - answered, 'the connection is not kept for another request').toBeLessThan(4000);
  });
});

// One start after the other on the same data, which is migrated already.
describe('in one process,', () => {
  let place: Place;
  beforeAll(async () => {
    place = await newPlace();
  });
  afterAll(() => place.remove());

  test('when ports are taken on the first start, the next one shows the secrets', () =>
    withTakenPort(async (port) => {
      for (const name of ['API_PORT', 'ADMIN_PORT'])
        await expect(startTestGateway({ [name]: port }, { place })).rejects.toThrow('EADDRINUSE');
      const gateway = await startTestGateway({}, { place });
      try {
        expect(gateway.first).toMatchObject({ authtoken: expect.any(String) });
        expect((await gateway.call('GET', '/credentials')).status).toBe(200);
      } finally {
        await gateway.close();
      }
    }));

  test('a start is refused, in words, when the database belongs to another server key', async () => {
    const SERVER_KEY = Buffer.alloc(32, 7).toString('base64');
    const text = await refused({ SERVER_KEY }, place);
    expect(text).toMatch(/another server key\. Set SERVER_KEY/);
    expect(text).not.toMatch(STACK);
  });

  test('a start is refused, in words, when no database answers', async () => {
    const text = await refused({ DATABASE_URL: 'postgresql://127.0.0.1:1/x' }, place);
    expect(text).toContain('DATABASE_URL');
    expect(text).not.toMatch(STACK);
  });

  test('a later INITIAL_API_KEY changes nothing; a start is refused when a newer version has taken away what the code uses', async () => {
    const newer = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    const [added, contracting] = ['29990101000000_added', '29990102000000_contracting'];
    await cp(migrations, newer, { recursive: true });
    for (const [name, sql] of [
      [added, 'SELECT 1'],
      [contracting, `-- contract: ${added}\nSELECT 1`],
    ] as const) {
      await mkdir(join(newer, name));
      await writeFile(join(newer, name, 'migration.sql'), sql);
    }
    const again = await startTestGateway({ INITIAL_API_KEY: 'another-key-entirely' }, { place, migrations: newer });
    try {
      expect(again.first).toBeNull();
      expect((await again.call('GET', '/credentials')).status).toBe(401);
    } finally {
      await again.close();
    }
    await expect(startTestGateway({}, { place })).rejects.toThrow(
      `newer than this gateway: ${contracting} took away what this version uses`,
    );
    await rm(newer, { recursive: true });
  });
});

// What the process itself adds: that a refusal ends it, and what `npm start` has done by then. test/workers/start.test.ts has a port that is
// taken.
test('a start is refused, in words, when the configuration is wrong: every variable is named; each address of a name that the process dials gets three seconds', async () => {
  const script = `import net from 'node:net'; process.on('exit', () => console.log('each ' + net.getDefaultAutoSelectFamilyAttemptTimeout()));`;
  const { code, stdout, stderr } = await runRefused({
    API_PORT: 'many',
    LOG_LEVEL: 'loud',
    DATA_DIR: '/nonexistent',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  });
  expect(code).toBe(1);
  expect(stdout).toBe(`each ${ADDRESS_ATTEMPT_MS}`);
  expect(stderr).toMatch(/^API_PORT .+$/m);
  expect(stderr).toMatch(/^LOG_LEVEL .+$/m);
  expect(stderr).not.toMatch(STACK);
});
