// `npm run soak -- failover`: the PostgreSQL server of three gateways is killed while accounts write, agents serve and visitors come,
// and the one that followed it takes its place, FAILOVER_ROUNDS (5) times. It needs PostgreSQL's programs and HAProxy:
// `apt-get install postgresql haproxy`.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPlace, onServer, type Place } from '../support/gateway/place.ts';
import { type Agents, STAYS, startAgents } from '../support/nodes/agents.ts';
import { type Fleet, startFleet } from '../support/nodes/fleet.ts';
import { hasServerPrograms, type ServerPair, startServerPair } from '../support/nodes/server-pair.ts';
import { Visitors } from '../support/nodes/visitors.ts';

const ROUNDS = Number(process.env.FAILOVER_ROUNDS || 5);
const ROUND_MS = 90_000;
const WRITERS = 4;
const PAUSE_MS = 5;
/** So many writes are acknowledged before and after each failover. */
const WRITES = 200;

describe.runIf(onServer && hasServerPrograms)(
  `three gateways whose PostgreSQL server fails over ${ROUNDS} times`,
  () => {
    let servers: ServerPair;
    let place: Place;
    let fleet: Fleet;
    let agents: Agents;
    let visitors: Visitors;
    let writers: Writers;
    beforeAll(async () => {
      servers = await startServerPair();
      place = await newPlace({ empty: true });
      fleet = await startFleet({ place: { ...place, env: { ...place.env, DATABASE_URL: servers.url } } });
      agents = await startAgents(fleet);
      visitors = new Visitors(fleet, agents, { count: 6, pauseMs: 2 });
      writers = new Writers(fleet);
    }, ROUND_MS);
    afterAll(async () => {
      await writers?.close();
      await visitors?.close();
      await agents?.close();
      await fleet?.close();
      await servers?.close();
    }, ROUND_MS);

    test('nothing acknowledged is lost, no session ends, no visit fails', { timeout: ROUNDS * ROUND_MS }, async () => {
      const sessions = (await fleet.sessionsOf(STAYS)).sort();
      for (let round = 1; round <= ROUNDS; round++) {
        await writers.acknowledge(WRITES);
        const { requests, failed } = visitors;
        const begun = performance.now();
        await servers.failOver();
        const promoted = performance.now();
        await writers.acknowledge(1);
        const written = performance.now();
        await fleet.front.allReady();
        const ready = performance.now();
        await writers.acknowledge(WRITES);
        const seconds = (at: number) => `${((at - begun) / 1000).toFixed(1)} s`;
        process.stdout.write(
          `failover ${round}: the other server took its place after ${seconds(promoted)}, the next write was acknowledged after ${seconds(written)}, all gateways were ready after ${seconds(ready)}; ${writers.acknowledged.size} writes acknowledged so far, ${writers.refused} refused; ${visitors.requests - requests} visits, ${visitors.failed - failed} failed\n`,
        );
        expect(await writers.missing()).toEqual([]);
        expect((await fleet.sessionsOf(STAYS)).sort()).toEqual(sessions);
        expect(visitors.failures.map(({ name, node, why }) => `${name} at ${node}: ${why}`)).toEqual([]);
        expect(visitors.misrouted).toEqual([]);
        await servers.repair();
      }
    });
  },
);

/** Accounts that make credentials all the time, at random gateways. */
class Writers {
  /** The ids of the credentials whose making was acknowledged. */
  readonly acknowledged = new Set<string>();
  refused = 0;
  readonly #fleet: Fleet;
  readonly #all: Promise<unknown>;
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#all = Promise.all(Array.from({ length: WRITERS }, () => this.#write()));
  }

  /** Resolves when so many more writes were acknowledged. */
  async acknowledge(count: number): Promise<void> {
    const goal = this.acknowledged.size + count;
    while (this.acknowledged.size < goal) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** @returns the acknowledged ones that are not there. */
  async missing(): Promise<string[]> {
    const acknowledged = [...this.acknowledged];
    const found = new Set<string>();
    let path: string | undefined = '/credentials?limit=100';
    while (path) {
      const { status, body, text } = await this.#fleet.front.pick().process().call('GET', path);
      if (status !== 200) throw new Error(text);
      for (const { id } of body.credentials) found.add(id);
      const next: string | undefined = body.next_page_uri;
      path = next ? next.replace(/^https?:\/\/[^/]+/, '') : undefined;
    }
    return acknowledged.filter((id) => !found.has(id));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#all;
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const answer = await this.#fleet.front
        .pick()
        .process()
        .call('POST', '/credentials', { description: 'written during a failover' })
        .catch(() => undefined);
      if (answer?.status === 201) this.acknowledged.add(answer.body.id);
      else this.refused++;
      for (const resolve of this.#waiting) resolve();
      this.#waiting.clear();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
