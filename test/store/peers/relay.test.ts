// What processes tell each other, over each of the buses.

import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Change, Changes } from '../../../src/store/changes/changes.ts';
import type { PeerBus } from '../../../src/store/changes/peer-bus.ts';
import { PeerRelay } from '../../../src/store/changes/peer-relay.ts';
import { postgresBus } from '../../../src/store/changes/postgres-bus.ts';
import { newId } from '../../../src/store/ids.ts';
import { testBuses, throughPort } from '../../support/buses.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { newServerDatabase, onServer } from '../support.ts';

interface Kind {
  name: string;
  runs: boolean;
  /** The URL of a server, and there of nothing that another test uses. */
  url(): Promise<string>;
  open(url: string, channel: string): Promise<PeerBus>;
}

const kinds: Kind[] = [
  { name: 'postgresql', runs: onServer, url: newServerDatabase, open: async (url) => postgresBus(url) },
  ...testBuses.map(({ name, url, isThere, open }) => ({
    name,
    runs: isThere && !onServer,
    url: async () => url,
    open,
  })),
];

const change = (id: string): Change => ({ kind: 'endpoint', action: 'UPDATED', id, accountId: 'ac_1' });

interface Peer {
  relay: PeerRelay;
  changes: Changes;
  heard: string[];
  logs: string[];
}

function newPeer(bus: PeerBus): Peer {
  const changes = new Changes();
  const heard: string[] = [];
  const logs: string[] = [];
  changes.listen(({ id }) => heard.push(id));
  const log = pino({ level: 'trace' }, { write: (line: string) => void logs.push(line) });
  const relay = new PeerRelay({ bus, node: newId('node'), changes, log });
  onTestFinished(() => relay.close());
  return { relay, changes, heard, logs };
}

describe.each(kinds)('over $name', ({ runs, url: newUrl, open }) => {
  describe.runIf(runs)('a process', () => {
    let url: string;
    let channel: string;
    let bus: PeerBus;
    /** Two processes: one through the proxy, the other not. */
    let proxy: FaultProxy;
    let proxied: Peer;
    let direct: Peer;
    beforeEach(async () => {
      url = await newUrl();
      channel = `gateway.${randomBytes(8).toString('hex')}`;
      bus = await open(url, channel);
      const { hostname, port } = new URL(url);
      proxy = await startFaultProxy(hostname, Number(port));
      onTestFinished(() => proxy.close());
      proxied = newPeer(await open(throughPort(url, proxy.port), channel));
      direct = newPeer(bus);
      await Promise.all([proxied.relay.start(), direct.relay.start()]);
      expect([proxied.relay.reasonNotReady, direct.relay.reasonNotReady]).toEqual([null, null]);
    });

    test('hears the hints of another one, all and in their order, and its own only once', async () => {
      const ids = Array.from({ length: 1000 }, (_, index) => `ep_${index}`);
      for (const id of ids) void direct.changes.publishHints([change(id)]);
      await eventually(() => expect(proxied.heard).toEqual(ids));
      void proxied.changes.publishHints([change('ep_last')]);
      await eventually(() => expect(direct.heard).toEqual([...ids, 'ep_last']));
      // A change counts as sent when the bus has answered, which may be after the others have heard it.
      await eventually(() =>
        expect([direct.relay.statistics, proxied.relay.statistics]).toMatchObject([
          { sent: 1000, received: 1, dropped: 0 },
          { sent: 1, received: 1000, dropped: 0 },
        ]),
      );
    });

    test('gets messages by topic', async () => {
      const got = new Promise((resolve) => proxied.relay.onMessage('greeting', resolve));
      await direct.relay.sendMessage('greeting', { text: 'hello' });
      expect(await got).toEqual({ text: 'hello' });
    });

    test('drops what is no message', async () => {
      const stranger = await bus.connect({ onMessage: () => {}, onLost: () => {} });
      onTestFinished(() => stranger.close());
      const wrong = ['', 'no JSON', 'null', '{"node":7}', '{"node":"x","gap":1}', '{"node":"x","versions":[1.5]}'];
      for (const text of wrong) await stranger.publish(text);
      await stranger.publish(JSON.stringify({ node: 'x', changes: [change('ep_1')] }));
      await eventually(() => expect(direct.heard).toEqual(['ep_1']));
      expect(direct.logs.filter((line) => line.includes('malformed'))).toHaveLength(wrong.length);
    });

    test('hears nothing of another cluster on the same bus', async () => {
      const other = newPeer(await open(await newUrl(), `${channel}-other`));
      await other.relay.start();
      void other.changes.publishHints([change('ep_other')]);
      await eventually(() => expect(other.relay.statistics.sent).toBe(1));
      void direct.changes.publishHints([change('ep_own')]);
      await eventually(() => expect(proxied.heard).toEqual(['ep_own']));
    });

    test('reconnects: it reports a gap, and sends the hints that have waited', async () => {
      proxy.refuse();
      await proxy.cut();
      await eventually(() => expect(proxied.relay.isConnected).toBe(false));
      expect(proxied.relay.reasonNotReady).toMatch(/^The .* is lost/);
      await expect(proxied.relay.sendMessage('greeting', {})).rejects.toThrow('not connected');
      void proxied.changes.publishHints([change('ep_1')]);
      const { gaps } = proxied.changes;
      await proxy.heal();
      await eventually(() => expect(direct.heard).toEqual(['ep_1']));
      expect([proxied.changes.gaps, direct.changes.gaps]).toEqual([gaps + 1, 1]);
    });

    test('notices a connection that went silent, and makes another', async () => {
      const { gaps } = proxied.changes;
      for (const connection of proxy.connections) connection.shape({ outage: 'black hole' });
      await eventually(() => expect(proxied.changes.gaps).toBe(gaps + 1));
      void direct.changes.publishHints([change('ep_1')]);
      await eventually(() => expect(proxied.heard).toEqual(['ep_1']));
    });

    test('drops hints when too many wait, and makes the others read again', async () => {
      const late = newPeer(bus);
      const many = Array.from({ length: 10_001 }, () => change('ep_1'));
      void late.changes.publishHints(many);
      expect(late.relay.statistics).toMatchObject({ sent: 0, dropped: many.length });
      void late.changes.publishHints([change('ep_2')]);
      const { gaps } = direct.changes;
      await late.relay.start();
      await eventually(() => expect(direct.changes.gaps).toBe(gaps + 1));
      void late.changes.publishHints([change('ep_3')]);
      await eventually(() => expect(direct.heard).toEqual(['ep_2', 'ep_3']));
    });
  });
});
