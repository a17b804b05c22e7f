// Random histories of agents with two sessions each, of which things end and begin at the same time: on one node, and where there
// is a server on two.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waiting } from '../../events/waiting.ts';
import {
  nameRequest,
  newClientId,
  newCredential,
  openSession,
  type TestCredential,
} from '../../support/agents/live.ts';
import type { TestGateway } from '../../support/gateway/gateway.ts';
import { type RacingNodes, startRacingNodes } from './racing-nodes.ts';

const RUNS = 10;
const SEED = Number(process.env.PROPERTY_SEED ?? 20261124);
const AGENTS = 3;
const LEGS = 2;

let racing: RacingNodes;
let credential: TestCredential;
beforeAll(async () => {
  racing = await startRacingNodes();
  credential = await newCredential(racing.account);
});
afterAll(() => racing?.close());

/** One of an agent's sessions, which is opened anew when it has ended. */
interface Leg {
  agent: number;
  number: number;
  node: TestGateway;
  sessionId: string;
  /** The tunnel that it serves; undefined for none. */
  tunnelId: string | undefined;
}

type Act = 'bind' | 'bind anew' | 'unbind' | 'close' | 'replace' | 'move' | 'nothing';
const act = fc.constantFrom<Act>('bind', 'bind', 'bind', 'bind anew', 'unbind', 'close', 'replace', 'move', 'nothing');
/** What all sessions do at the same time, one such after the other. */
const history = fc.array(fc.array(act, { minLength: AGENTS * LEGS, maxLength: AGENTS * LEGS }), {
  minLength: 3,
  maxLength: 6,
});
let run = 0;
let moved = 0;

test('a tunnel is served by the sessions that bound it, whatever ends at the same time', async () => {
  const { prisma } = racing.nodeOf(0).app;
  const { events } = await waiting(racing.nodeOf(0), racing.account, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const seen = { shared: 0, ended: 0 };
  const property = fc.asyncProperty(history, async (batches) => {
    run++;
    const clientIds = Array.from({ length: AGENTS }, newClientId);
    const hostnameOf = ({ agent }: Leg) => `legs${run}-${agent}.tunnel.localhost`;
    const open = ({ node, agent, number: leg }: Omit<Leg, 'sessionId' | 'tunnelId'>, moves = false) =>
      openSession(node, credential, { clientId: clientIds[agent] ?? '', leg, moves });
    const legs = await Promise.all(
      Array.from({ length: AGENTS * LEGS }, async (_, i): Promise<Leg> => {
        const leg = { agent: i % AGENTS, number: Math.floor(i / AGENTS), node: racing.nodeOf(i) };
        return { ...leg, sessionId: await open(leg), tunnelId: undefined };
      }),
    );
    /** The last tunnel of each agent. */
    const known: (string | undefined)[] = [];

    async function take(leg: Leg, what: Act): Promise<void> {
      const { registrar } = leg.node;
      if (what === 'bind' || what === 'bind anew') {
        const resume = what === 'bind' ? (known[leg.agent] ?? null) : null;
        const answer = await registrar.bind(nameRequest(leg.sessionId, hostnameOf(leg), { resume }));
        if ('refused' in answer) return;
        leg.tunnelId = answer.tunnelId;
        known[leg.agent] = answer.tunnelId;
      } else if (what === 'unbind' && leg.tunnelId) {
        await registrar.tunnelClosed(leg.sessionId, leg.tunnelId);
        leg.tunnelId = undefined;
      } else if (what === 'close' || what === 'replace') {
        if (what === 'close') await registrar.sessionClosed(leg.sessionId, 60_000, 'lost');
        leg.sessionId = await open(leg);
        leg.tunnelId = undefined;
      } else if (what === 'move') {
        const { sessionId: before, tunnelId: resume } = leg;
        leg.node = racing.nodeOf(++moved);
        leg.sessionId = await open(leg, true);
        if (resume !== undefined) {
          const answer = await leg.node.registrar.bind(nameRequest(leg.sessionId, hostnameOf(leg), { resume }));
          expect(answer).toMatchObject({ tunnelId: resume });
        }
        expect(await registrar.leaveTunnels(before)).toBe(true);
        await registrar.sessionClosed(before, 0);
      }
    }

    const service = (sessionId: string, tunnelId: string) => `${sessionId} ${tunnelId}`;
    for (const batch of batches) {
      await Promise.all(legs.map((leg, i) => take(leg, batch[i] as Act)));
      const where = { session: { clientId: { in: clientIds } } };
      const select = { session: true, endpoint: true, legs: { include: { session: true } } } as const;
      const tunnels = await prisma.tunnel.findMany({ where, include: select });
      for (const { session, endpoint, legs } of tunnels) {
        expect(endpoint?.nodeId).toBe(session.nodeId);
        for (const leg of legs)
          expect([leg.session.clientId, leg.nodeId]).toEqual([session.clientId, leg.session.nodeId]);
      }
      const stored = tunnels.flatMap(({ id, sessionId, legs }) =>
        [sessionId, ...legs.map((leg) => leg.sessionId)].map((session) => service(session, id)),
      );
      const expected = legs.flatMap(({ sessionId, tunnelId }) => (tunnelId ? service(sessionId, tunnelId) : []));
      expect(stored.toSorted()).toEqual(expected.toSorted());
      seen.shared += tunnels.filter((tunnel) => tunnel.legs.length > 0).length;
      // What is served has a claim that is not for the taking.
      const addresses = legs.map((leg) => `http:${hostnameOf(leg)}`);
      for (const { address, heldUntil } of await prisma.claim.findMany({ where: { address: { in: addresses } } }))
        expect((await racing.liveAt(address)).length > 0, address).toBe(heldUntil === null);
    }
    for (const { node, sessionId } of legs) await node.registrar.sessionClosed(sessionId, 0);
    const told = await events();
    const count = (type: string) => told.filter((event) => event.event_type === type).length;
    expect(count('endpoint_online.v0')).toBe(count('endpoint_offline.v0'));
    seen.ended = count('endpoint_offline.v0');
  });
  await fc.assert(property, { seed: SEED, numRuns: RUNS });
  expect(Math.min(seen.shared, seen.ended)).toBeGreaterThan(0);
}, 60_000);

test('a session leaves its tunnels when another session of its agent serves all of them, and not before', async () => {
  const [node, other] = [racing.nodeOf(0), racing.nodeOf(1)];
  const agent = { clientId: newClientId(), leg: 0 };
  const first = await openSession(node, credential, agent);
  const bind = async (name: string, sessionId = first, at = node, resume: string | null = null) =>
    (await at.registrar.bind(nameRequest(sessionId, name, { resume }))) as { tunnelId: string };
  const shared = await bind('left.tunnel.localhost');
  const alone = await bind('kept.tunnel.localhost');
  expect(await node.registrar.leaveTunnels(first)).toBe(false);

  const second = await openSession(other, credential, { ...agent, moves: true });
  await bind('left.tunnel.localhost', second, other, shared.tunnelId);
  expect(await node.registrar.leaveTunnels(first)).toBe(false);
  const ownerOf = async ({ tunnelId: id }: { tunnelId: string }) => {
    const tunnel = await node.app.prisma.tunnel.findUnique({ where: { id }, include: { legs: true, endpoint: true } });
    expect(tunnel?.endpoint?.nodeId).toBe(tunnel?.sessionId === first ? node.registrar.nodeId : other.registrar.nodeId);
    return [tunnel?.sessionId, ...(tunnel?.legs ?? []).map(({ sessionId }) => sessionId)];
  };
  expect([await ownerOf(shared), await ownerOf(alone)]).toEqual([[first, second], [first]]);

  await bind('kept.tunnel.localhost', second, other, alone.tunnelId);
  expect(await node.registrar.leaveTunnels(first)).toBe(true);
  expect(await node.registrar.leaveTunnels(first)).toBe(true);
  await node.registrar.sessionClosed(first, 0);
  expect([await ownerOf(shared), await ownerOf(alone)]).toEqual([[second], [second]]);
  await other.registrar.sessionClosed(second, 0);
});
