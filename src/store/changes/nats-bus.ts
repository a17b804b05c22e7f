// The bus over NATS core subjects: at most once, no JetStream.

import type { BusConnection, BusEvents, PeerBus } from './peer-bus.ts';

/** A server takes a megabyte by default; smaller messages delay others less. */
const MESSAGE_MAX_BYTES = 64 * 1024;
/** How long connecting, and each answer of the server, may take, in milliseconds. */
const TIMEOUT_MS = 3000;

/**
 * @param url `nats://…`, or `tls://…` for servers that must speak TLS; with a user and a password, or a token, where needed.
 * @param channel the subject.
 * @throws when the package is not installed.
 */
export async function natsBus(url: string, channel: string): Promise<PeerBus> {
  const { connect } = await import('@nats-io/transport-node');
  const { protocol, host, username, password } = new URL(url);
  const user = decodeURIComponent(username);
  const login = username === '' ? {} : password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };

  async function open({ onMessage, onLost }: BusEvents): Promise<BusConnection> {
    const connection = await connect({
      servers: host,
      name: 'gateway',
      reconnect: false,
      timeout: TIMEOUT_MS,
      ...(protocol === 'tls:' && { tls: {} }),
      ...login,
    });
    const close = () => void connection.close().catch(() => undefined);
    void connection.closed().then(onLost);
    const flush = () => within(TIMEOUT_MS, connection.flush());
    try {
      connection.subscribe(channel, {
        // An error ends the subscription: of a server that forbids it, or of a connection that ended.
        callback: (error, message) => (error ? close() : onMessage(message.string())),
      });
      await flush();
    } catch (error) {
      close();
      throw error;
    }
    return {
      async publish(text) {
        connection.publish(channel, text);
        await flush();
      },
      close,
    };
  }

  return {
    name: 'nats',
    maxBytes: MESSAGE_MAX_BYTES,
    lostText: 'The connection to NATS (BUS_URL) is lost: changes of other nodes are not heard.',
    connect: open,
  };
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
