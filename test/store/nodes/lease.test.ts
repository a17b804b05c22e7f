// The lease of a node is renewed whatever else the database has to do.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { bound, nameRequest, newCredential, openSession } from '../../support/agents/live.ts';
import { eventually } from '../../support/eventually.ts';
import { onServer, startTestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';

const LEASE_MS = 3000;

test.runIf(onServer)('binds that wait and have all connections do not cost what is bound already', async () => {
  const place = await newPlace();
  const gateway = await startTestGateway({ NODE_LEASE_MS: String(LEASE_MS), DATABASE_POOL: '1' }, { place });
  const other = new pg.Client({ connectionString: place.env.DATABASE_URL });
  await other.connect();
  try {
    const sessionId = await openSession(gateway, await newCredential(gateway));
    const { endpointId } = bound(await gateway.registrar.bind(nameRequest(sessionId, 'there.tunnel.localhost')));
    const leaseUntil = async () =>
      (await other.query('SELECT max(lease_until) AS until, now() AS now FROM node')).rows[0] as {
        until: Date;
        now: Date;
      };
    // Who reserves a domain keeps binds waiting. A transaction does not see the time pass: it is asked for outside of it.
    const holder = new pg.Client({ connectionString: place.env.DATABASE_URL });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query("SELECT name FROM setting WHERE name = 'reserved_domains' FOR UPDATE");
    const waiting = gateway.registrar.bind(nameRequest(sessionId, 'waits.tunnel.localhost'));
    const begun = (await leaseUntil()).until;
    // It waits for longer than a lease is.
    await eventually(async () =>
      expect((await leaseUntil()).until.getTime()).toBeGreaterThan(begun.getTime() + LEASE_MS),
    );
    await holder.query('COMMIT');
    await holder.end();
    bound(await waiting);
    expect((await gateway.call('GET', `/endpoints/${endpointId}`)).status).toBe(200);
  } finally {
    await other.end();
    await gateway.close();
    await place.remove();
  }
});

test.runIf(onServer)(
  'an attempt to connect that hangs does not cost the lease, when the next one would not',
  async () => {
    const place = await newPlace();
    onTestFinished(() => place.remove());
    const url = new URL(place.env.DATABASE_URL ?? '');
    const sockets = new Set<Socket>();
    let holds = false;
    // Accepts connections, and leads them to the database, or nowhere.
    const front = createServer((near) => {
      sockets.add(near);
      near.on('error', () => {}).on('close', () => sockets.delete(near));
      if (holds) return void near.resume().once('close', () => (holds = false)); // Given up: the next one gets through.
      const far = connect(Number(url.port || 5432), url.hostname);
      far.on('error', () => near.destroy()).on('close', () => near.destroy());
      near
        .on('close', () => far.destroy())
        .pipe(far)
        .pipe(near);
    });
    await once(front.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void front.close());
    const throughFront = new URL(url);
    throughFront.host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
    const settings = { NODE_LEASE_MS: String(LEASE_MS) };
    const other = await startTestGateway(settings, { place });
    onTestFinished(() => other.close());
    const gateway = await startTestGateway({ ...settings, DATABASE_URL: throughFront.href }, { place });
    onTestFinished(() => gateway.close());
    const sessionId = await openSession(gateway, await newCredential(gateway));

    const renewed = gateway.logged(({ msg }) => msg === 'node lease is renewed again');
    holds = true;
    for (const socket of [...sockets]) socket.destroy();
    await renewed;
    expect((await other.call('GET', `/tunnel_sessions/${sessionId}`)).status).toBe(200);
  },
);
