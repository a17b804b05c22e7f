// One stranger who recorded a ClientHello and sends it again and again, to visitors' listener and to the agents', without ever computing
// anything: each costs the gateway a key exchange and a signature.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Attack, Counts, Target } from '../attack.ts';
import { pause } from '../http2-attackers.ts';

/** Hellos to a second: more are a flood of connections, of which Node accepts one in each turn of its loop. And how many are kept open. */
const PER_SECOND = 100;
const KEPT = 200;
/** Of all addresses of this machine, none that an honest client has. */
const STRANGER = '127.0.0.66';

export const attack: Attack = {
  name: 'T1 recorded ClientHellos of one address',
  async run(target, signal) {
    const hello = await recordHello(target);
    const counts: Counts = { sent: 0, answered: 0, closed: 0 };
    const count = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    const kept = new Set<Socket>();
    for (let at = 0; !signal.aborted; at++) {
      const [host, port] = (at % 4 === 3 ? target.agent : target.https).split(':');
      const socket = connect({ host, port: Number(port), localAddress: STRANGER });
      kept.add(socket);
      socket.on('error', () => {}).once('data', () => count('answered'));
      socket.on('close', () => {
        count('closed');
        kept.delete(socket);
      });
      socket.write(hello);
      count('sent');
      const [oldest] = kept.size > KEPT ? kept : [];
      oldest?.destroy();
      await pause(1000 / PER_SECOND, signal);
    }
    for (const socket of kept) socket.destroy();
    return counts;
  },
};

/** The first message of a visitor to a name that is served with a certificate. */
async function recordHello({ baseDomain }: Target): Promise<Buffer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const terms = { servername: baseDomain, ecdhCurve: 'P-384', rejectUnauthorized: false };
  const visitor = connectTls({ host: '127.0.0.1', port, ...terms }).on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [hello] = (await once(
    socket.on('error', () => {}),
    'data',
  )) as [Buffer];
  visitor.destroy();
  socket.destroy();
  server.close();
  return hello;
}
