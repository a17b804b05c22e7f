// The bus over Redis or Valkey pub/sub.

import type { BusConnection, BusEvents, PeerBus } from './peer-bus.ts';

const MESSAGE_MAX_BYTES = 64 * 1024;
/** How long connecting, and each answer of the server, may take, in milliseconds. */
const TIMEOUT_MS = 3000;

/**
 * @param url `redis://…`, or `rediss://…` for TLS. The server must be Redis 6 or newer, or Valkey: it gets commands on the
 *   connection that is subscribed, which RESP3 allows.
 * @throws when the package is not installed.
 */
export async function redisBus(url: string, channel: string): Promise<PeerBus> {
  const { createClient } = await import('@redis/client');

  async function open({ onMessage, onLost }: BusEvents): Promise<BusConnection> {
    const client = createClient({
      url,
      RESP: 3,
      disableOfflineQueue: true,
      commandOptions: { timeout: TIMEOUT_MS },
      socket: { connectTimeout: TIMEOUT_MS, reconnectStrategy: false },
    });
    let isClosed = false;
    const close = () => {
      if (isClosed) return;
      isClosed = true;
      if (client.isOpen) client.destroy();
    };
    client.on('error', onLost);
    client.on('end', onLost);
    try {
      await client.connect();
      await client.subscribe(channel, (message) => onMessage(message));
    } catch (error) {
      close();
      throw error;
    }
    return {
      async publish(text) {
        await client.publish(channel, text);
      },
      close,
    };
  }

  return {
    name: 'redis',
    maxBytes: MESSAGE_MAX_BYTES,
    lostText: 'The connection to Redis (BUS_URL) is lost: changes of other nodes are not heard.',
    connect: open,
  };
}
