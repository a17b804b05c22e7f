// What a session keeps of an agent that is not admitted yet, and for how long.

import { expect, onTestFinished, test, vi } from 'vitest';
import { type MuxStream, noopStreamEvents, StreamType } from '../../src/protocol/index.ts';
import { AgentError } from '../../src/tunnel/control/agent-errors.ts';
import { BeforeAdmission } from '../../src/tunnel/session/before-admission.ts';
import { collect, pair } from '../protocol/pair.ts';
import { eventually } from '../support/eventually.ts';

const DEADLINE = 10_000;

test('the deadline is that of all attempts together, and does not run while the gateway works', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isLate = false;
  const before = new BeforeAdmission(() => {
    isLate = true;
  });
  vi.advanceTimersByTime(DEADLINE - 2);
  before.pauseDeadline();
  vi.advanceTimersByTime(60_000);
  before.pauseDeadline();
  before.resumeDeadline();
  vi.advanceTimersByTime(1);
  before.pauseDeadline();
  expect(isLate).toBe(false);
  before.resumeDeadline();
  vi.advanceTimersByTime(1);
  expect(isLate).toBe(true);
});

async function heldCall() {
  const before = new BeforeAdmission(() => {});
  const { client, server } = await pair();
  const held = new Promise<MuxStream>((resolve) => {
    server.accept((stream) => {
      before.hold(stream, StreamType.BIND, Buffer.from('{"a"'));
      resolve(stream);
      return stream.events;
    });
  });
  const call = client.session.open(noopStreamEvents);
  const { events, all } = collect(call);
  call.events = events;
  all.catch(() => {}); // It may be lost with the connection.
  call.write(Buffer.from(':1}'));
  const stream = await held;
  const released: string[] = [];
  const release = () =>
    before.release((_, type, rest) => {
      stream.events = { ...noopStreamEvents, onEnd: () => void released.push('end') };
      released.push(`${type} ${rest}`);
    });
  return { before, call, all, client, server, release, released };
}

test('a call that waits is handed over whole, once', async () => {
  const { call, client, server, release, released } = await heldCall();
  const bytes = server.session.bytesIn;
  call.end();
  await eventually(() => expect(server.session.bytesIn).toBeGreaterThan(bytes));
  release();
  release();
  expect(released).toEqual([`${StreamType.BIND} {"a":1}`, 'end']);
  client.session.close();
});

test.each([
  ['in time', undefined, 'tunnel session not ready yet'],
  ['because of a failure that may pass', new Error('no database'), 'tunnel session not ready yet'],
  ['for now', new AgentError('unavailable', {}, { retryAfter: 2 }), 'tunnel session not ready yet'],
  [
    'for good',
    new AgentError('badLeg', { max: 1, leg: 2 }),
    expect.stringMatching(/^LegNumber .*\r\nERR_X_90216\r\n$/s),
  ],
])('a call that waits is answered when the agent is not admitted %s', async (_, reason, text) => {
  const { before, all, client, release, released } = await heldCall();
  before.refuse(reason, 'ERR_X_');
  // Wrappers of agents try again after exactly this text.
  expect(JSON.parse((await all).toString())).toEqual({ Error: text });
  release();
  expect(released).toEqual([]);
  client.session.close();
});

test('nothing is kept of a call that its agent gave up, or lost with its connection', async () => {
  for (const lose of [
    ({ call }: Awaited<ReturnType<typeof heldCall>>) => call.reset(),
    ({ client }: Awaited<ReturnType<typeof heldCall>>) => client.session.close(),
  ]) {
    const held = await heldCall();
    lose(held);
    await eventually(() => expect(held.server.session.size).toBe(0));
    held.release();
    expect(held.released).toEqual([]);
    held.client.session.close();
  }
});
