// Random histories of binds and ends at the same time, on one node, and where there is a server on two.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nameRequest } from '../../support/agents/live.ts';
import type { TestGateway } from '../../support/gateway/gateway.ts';
import { type RacingNodes, type RacingSession, startRacingNodes } from './racing-nodes.ts';

const RUNS = 8;
const SEED = Number(process.env.PROPERTY_SEED ?? 20261121);
let racing: RacingNodes;
beforeAll(async () => {
  racing = await startRacingNodes();
});
afterAll(() => racing?.close());

const newSession = (index: number) => racing.newSession(index);
const sessions = (count: number) => racing.sessions(count);
const nodeOf = (index: number) => racing.nodeOf(index);
const liveAt = (address: string) => racing.liveAt(address);

type Step =
  | { kind: 'bind'; session: number; address: number; pooling: boolean; resume: boolean }
  | { kind: 'unbind'; tunnel: number }
  | { kind: 'close'; session: number; holdMs: number };

const few = fc.nat({ max: 5 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('bind' as const),
      session: few,
      address: fc.nat({ max: 1 }),
      pooling: fc.constantFrom(true, true, false),
      resume: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unbind' as const), tunnel: few }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('close' as const), session: few, holdMs: fc.constantFrom(0, 1, 60_000) }),
  },
);

/** What happens at the same time, one such after the other. */
const history = fc.array(fc.array(step, { minLength: 4, maxLength: 8 }), { minLength: 2, maxLength: 4 });
let run = 0;

test('whatever happens concurrently, no address is served by two tunnels that do not share it', async () => {
  const seen = { bound: 0, refused: 0, shared: 0 };
  const property = fc.asyncProperty(history, async (batches) => {
    run++;
    const hostnames = [`p${run}a.tunnel.localhost`, `p${run}b.tunnel.localhost`];
    const agents = await sessions(6);
    /** Tunnels that were given out, with what was asked for. */
    const given: { sessionId: string; tunnelId: string; hostname: string; pooling: boolean; node: TestGateway }[] = [];

    const take = async (now: Step): Promise<void> => {
      if (now.kind === 'unbind') {
        const tunnel = given[now.tunnel % Math.max(1, given.length)];
        return tunnel?.node.registrar.tunnelClosed(tunnel.sessionId, tunnel.tunnelId);
      }
      const agent = agents[now.session] as RacingSession;
      if (now.kind === 'close') {
        await agent.node.registrar.sessionClosed(agent.id, now.holdMs);
        agents[now.session] = await newSession(now.session);
        return;
      }
      const hostname = hostnames[now.address] as string;
      const earlier = given.findLast((tunnel) => tunnel.hostname === hostname);
      const isOwnAccount = agent.credential.accountId === racing.account.accountId;
      const resume = now.resume && isOwnAccount ? (earlier?.tunnelId ?? null) : null;
      const { pooling } = now;
      const answer = await agent.node.registrar.bind(nameRequest(agent.id, hostname, { pooling, resume }));
      if ('refused' in answer) seen.refused++;
      else given.push({ sessionId: agent.id, tunnelId: answer.tunnelId, hostname, pooling, node: agent.node });
      if (!('refused' in answer)) seen.bound++;
    };

    for (const batch of batches) {
      await Promise.all(batch.map(take));
      for (const hostname of hostnames) {
        const live = await liveAt(`http:${hostname}`);
        if (live.length < 2) continue;
        seen.shared++;
        const claim = await nodeOf(0).app.prisma.claim.findUnique({ where: { address: `http:${hostname}` } });
        expect(claim).toMatchObject({ pooling: true, heldUntil: null });
        expect(new Set(live.map(({ accountId }) => accountId)).size, 'accounts at one address').toBe(1);
        const asked = live.map(({ id }) => given.findLast(({ tunnelId }) => tunnelId === id.replace('ep_', 'tn_')));
        expect(asked.map((tunnel) => tunnel?.pooling)).toEqual(live.map(() => true));
      }
    }
    // What is served has a claim that is not for the taking, and what is free has none.
    const claims = await nodeOf(0).app.prisma.claim.findMany({
      where: { address: { in: hostnames.map((name) => `http:${name}`) } },
    });
    for (const { address, heldUntil } of claims) expect((await liveAt(address)).length > 0).toBe(heldUntil === null);
    for (const name of hostnames)
      if (!claims.some(({ address }) => address === `http:${name}`)) expect(await liveAt(`http:${name}`)).toEqual([]);
    for (const { node, id } of agents) await node.registrar.sessionClosed(id, 0);
  });
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
  expect(Math.min(seen.bound, seen.refused, seen.shared)).toBeGreaterThan(0);
}, 40_000);
