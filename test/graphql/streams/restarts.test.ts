// Clients whose gateway goes away and comes back: they come back by themselves, hear that they do, and miss nothing that they can ask for.

import type { Client as EventClient } from 'graphql-sse';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type GatewayProcess, portsOf, startProcess } from '../../support/gateway/process.ts';
import { clientOf } from './socket-client.ts';

const CHANGES = 'subscription { changes(kinds: ["credential"]) { changes { objectId } } }';

let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startProcess({ WORKERS: '2', DRAIN_MS: '60000', INITIAL_API_KEY: 'chosen-by-the-tests-0001' });
});
afterAll(async () => {
  await gateway?.kill();
  await gateway?.place.remove();
});

const KEY = 'chosen-by-the-tests-0001';

/** What a page does: it asks for the list whenever it hears that changes may have been missed, and adds what it hears of. */
class Page {
  readonly known = new Set<string>();
  marks = 0;
  ends: unknown[] = [];

  readonly sink = {
    next: ({ data }: { data?: unknown }) => {
      const { changes } = (data as { changes: { changes: { objectId: string }[] } }).changes;
      for (const { objectId } of changes) this.known.add(objectId);
      if (changes.length > 0) return;
      this.marks++;
      gateway.call('GET', '/credentials').then(
        ({ body }) => {
          for (const { id } of body.credentials) this.known.add(id);
        },
        () => {}, // It goes away again: another mark comes.
      );
    },
    error: (error: unknown) => void this.ends.push(error),
    complete: () => void this.ends.push('complete'),
  };
}

async function restartAfter(signal: 'SIGTERM' | 'SIGKILL', code: number | null): Promise<void> {
  const ports = portsOf(gateway);
  expect(await gateway.kill(signal)).toBe(code);
  gateway = await gateway.restart(ports);
}

async function upgrade(): Promise<void> {
  process.kill(gateway.pid, 'SIGHUP');
  await eventually(() => expect(gateway.stderr.join('\n')).toContain('upgrade: the new processes serve'));
}

test.each<[string, () => Promise<void>]>([
  ['an upgrade', upgrade],
  ['a planned stop and a restart', () => restartAfter('SIGTERM', 0)],
  ['a kill and a restart', () => restartAfter('SIGKILL', null)],
])('through %s, clients of graphql-ws and graphql-sse come back and miss nothing', async (_, away) => {
  const [bySocket, byEvents] = [new Page(), new Page()];
  const retrying = { retryAttempts: 1000, retryWait: () => new Promise<void>((resolve) => setTimeout(resolve, 50)) };
  const socket = clientOf(gateway.api, KEY, { ...retrying, shouldRetry: () => true });
  const events: EventClient = createClient({
    url: `${gateway.api}/graphql`,
    headers: { authorization: `Bearer ${KEY}` },
    ...retrying,
  });
  const query = { query: CHANGES };
  const stops = [socket.subscribe(query, bySocket.sink), events.subscribe(query, byEvents.sink)];
  const pages = [bySocket, byEvents];
  await eventually(() => expect(pages.map(({ marks }) => marks)).toEqual([1, 1]));
  const before = await gateway.call('POST', '/credentials', {});
  await away();
  const after = await gateway.call('POST', '/credentials', {});
  for (const page of pages)
    await eventually(() => expect([...page.known]).toEqual(expect.arrayContaining([before.body.id, after.body.id])), {
      timeout: 20_000,
    });
  await eventually(() => expect(pages.every(({ marks }) => marks > 1)).toBe(true), { timeout: 20_000 });
  expect(pages.flatMap(({ ends }) => ends)).toEqual([]);
  for (const stop of stops) stop();
  await socket.dispose();
  events.dispose();
});
