// The bus of gateways that share a PostgreSQL server and have no other: LISTEN/NOTIFY on a connection of its own.

import { Socket } from 'node:net';
import pg from 'pg';
import type { BusConnection, BusEvents, PeerBus } from './peer-bus.ts';

export const NOTIFY_CHANNEL = 'gateway_changes';
/** The server refuses payloads of 8,000 bytes. */
export const NOTIFY_MAX_BYTES = 7999;
/** How long connecting, and each statement on the connection, may take, in milliseconds. */
const QUERY_TIMEOUT_MS = 3000;

/** @param url of the server itself: a pooler that gives each transaction another connection breaks LISTEN. */
export function postgresBus(url: string): PeerBus {
  return {
    name: 'postgresql',
    maxBytes: NOTIFY_MAX_BYTES,
    lostText: 'The LISTEN connection to the database is lost: changes of other nodes are not heard.',
    connect: (events) => connect(url, events),
  };
}

async function connect(connectionString: string, { onMessage, onLost }: BusEvents): Promise<BusConnection> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString,
    application_name: 'gateway listener',
    keepAlive: true,
    connectionTimeoutMillis: QUERY_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    stream: () => socket,
  });
  client.on('error', onLost);
  client.on('end', onLost);
  client.on('notification', ({ payload }) => onMessage(payload ?? ''));
  try {
    await client.connect();
    await client.query(`LISTEN ${NOTIFY_CHANNEL}`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  let last: Promise<unknown> = Promise.resolve();
  return {
    async publish(text) {
      // One statement after the other: the driver does not queue them for much longer.
      const sent = last.then(() => client.query('SELECT pg_notify($1, $2)', [NOTIFY_CHANNEL, text]));
      last = sent.catch(() => undefined);
      await sent;
    },
    close() {
      client.removeAllListeners('notification');
      socket.destroy();
    },
  };
}
