// `npm run soak -- workers`: what two workers cost beside one process, and how visitors spread over them.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newClient, PATIENT } from '../../agent/client/support.ts';
import { serve, service } from '../../cluster/support.ts';
import { onServer } from '../../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../../support/gateway/process.ts';
import { samples } from '../../support/load/metrics.ts';
import { startEnvironment } from '../../support/load/resident.ts';
import { connectionsOf } from '../../workers/kept.ts';
import { cpuOf, type ProcessGroup, startProcessGroup, WORKERS } from '../../workers/support.ts';
import { BODY, Load, median, say } from './load.ts';

const ROUNDS = Number(process.env.WORKERS_ROUNDS || 7);
const SHARE_ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 64;
const COST_MAX = 1.15;
/** Of connections and of requests, at each of two workers. */
const SHARE_MIN = 0.4;
const LONG = { timeout: 300_000 };

describe.skipIf(onServer || process.platform !== 'linux')('two workers', () => {
  const load = new Load();
  let one: GatewayProcess;
  let two: ProcessGroup;
  beforeAll(async () => {
    const env = await startEnvironment();
    one = await startProcess({ ...env, WORKERS: '1' });
    two = await startProcessGroup(env);
  }, 120_000);
  afterAll(async () => {
    load.stop();
    await two?.close();
    await one?.kill('SIGTERM');
    await one?.place.remove();
  }, 120_000);

  const host = 'cost.tunnel.localhost';
  const answering = () => service((_, response) => void response.end(BODY));

  /** An agent of the gateway of one process. */
  async function agentOfOne() {
    const ca = await readFile(join(one.place.dataDir, 'ca.pem'), 'utf8');
    const [address = '', port] = one.agent.split(':');
    const authtoken = one.authtoken ?? '';
    const agent = newClient({ host: address, port: Number(port), ca }, { authtoken }, PATIENT);
    onTestFinished(() => agent.client.close());
    return agent;
  }

  test.each([
    ['connections that are kept', false],
    ['a connection for each request', true],
  ])('cost hardly more than one process, with %s', LONG, async (what, close) => {
    await serve(await agentOfOne(), await answering(), { domain: host });
    await serve(await two.agentAt(0), await answering(), { domain: host });
    const turn = async (http: string, pids: number[]) => {
      const before = cpuOf(pids);
      const { requests, seconds } = await load.run({
        listener: http,
        host,
        connections: CONNECTIONS,
        close,
        seconds: SECONDS,
      });
      return { cpu: (cpuOf(pids) - before) / requests, rate: requests / seconds };
    };
    const gateways = [
      { http: one.http, pids: [one.pid], rounds: [] as Awaited<ReturnType<typeof turn>>[] },
      {
        http: two.gateway.http,
        pids: [two.gateway.pid, ...two.pids()],
        rounds: [] as Awaited<ReturnType<typeof turn>>[],
      },
    ];
    for (const { http, pids } of gateways) await turn(http, pids); // Compiles.
    for (let round = 0; round < ROUNDS; round++)
      for (const { http, pids, rounds } of round % 2 ? gateways.toReversed() : gateways)
        rounds.push(await turn(http, pids));
    const [single = [], double = []] = gateways.map(({ rounds }) => rounds);
    // What slows a whole round slows both.
    const times = median(double.map(({ cpu }, index) => cpu / (single[index]?.cpu ?? Number.NaN)));
    const row = (rounds: typeof single) =>
      `${median(rounds.map(({ cpu }) => cpu)).toFixed(1)} µs per request, ${median(rounds.map(({ rate }) => rate)).toFixed(0)} requests per second`;
    say(
      `${what}: one process ${row(single)}; two workers ${row(double)}; CPU ${times.toFixed(2)} times (<= ${COST_MAX})`,
    );
    expect(times).toBeLessThanOrEqual(COST_MAX);
  });

  test.each([64, 400])('share %i visitors about equally', LONG, async (connections) => {
    await serve(await two.agentAt(0), await answering(), { domain: host });
    const pids = WORKERS.map((worker) => two.pid(worker) ?? 0);
    const answered = async () =>
      sum((await samples(two.gateway.admin)).series('gateway_http_requests_total').map(({ value }) => value));
    /** The share of the second worker in the requests of a load: while it is stopped, the sums have its counts of before. */
    const shareOf = async (run: () => Promise<unknown>) => {
      const before = await answered();
      await run();
      const first = (await two.at(0, answered)) - before;
      return 1 - first / ((await answered()) - before);
    };
    const shares: Record<string, number[]> = { connections: [], 'requests, kept': [], 'requests, anew': [] };
    for (let round = 0; round < SHARE_ROUNDS; round++)
      for (const close of [false, true]) {
        const share = await shareOf(async () => {
          const running = load.run({ listener: two.gateway.http, host, connections, close, seconds: SECONDS });
          if (!close) {
            await expect.poll(() => sum(connectionsOf(pids, two.gateway.http))).toBe(connections);
            const [, second = 0] = connectionsOf(pids, two.gateway.http);
            shares.connections?.push(second / connections);
          }
          await running;
        });
        shares[close ? 'requests, anew' : 'requests, kept']?.push(share);
      }
    for (const [what, values] of Object.entries(shares))
      say(
        `${connections} visitors, ${what}, share of the second worker: ${values.map((one) => one.toFixed(2)).join(' ')}`,
      );
    for (const [what, values] of Object.entries(shares)) {
      expect.soft(Math.min(...values), what).toBeGreaterThanOrEqual(SHARE_MIN);
      expect.soft(Math.max(...values), what).toBeLessThanOrEqual(1 - SHARE_MIN);
    }
  });
});

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
