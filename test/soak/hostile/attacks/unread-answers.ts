// Connections that ask for the largest answers there are and read nothing of them.

import type { Socket } from 'node:net';
import type { Attack, Counts } from '../attack.ts';
import { get, openRaw, pause } from './raw-http.ts';

const CONNECTIONS = 60;
const OPENED_PER_SECOND = 30;
/** After so long a whole round is given up and begun again. */
const ROUND_MS = 20_000;
const LISTED = 100;

export const attack: Attack = {
  name: 'A2 answers that nobody reads',
  async run(target, signal) {
    const counts: Counts = { opened: 0, refused: 0, cut: 0 };
    const authorization = { Authorization: `Bearer ${target.tenant.key}`, 'Service-Version': '2' };
    await makeList(target.api, authorization, signal).catch(() => {}); // Others may attack, too.
    const page = get(target.api, '/graphql', { Accept: 'text/html' });
    const requests = [
      ...[page, page, page],
      get(target.api, '/openapi.json').repeat(20),
      get(target.api, '/dashboard/', { Accept: 'text/html' }).repeat(20),
      get(target.api, `/credentials?limit=${LISTED}`, authorization).repeat(20),
      get(target.api, `/credentials?limit=${LISTED}`, { ...authorization, 'Accept-Encoding': 'gzip' }).repeat(20),
    ];
    while (!signal.aborted) {
      const sockets: Socket[] = [];
      const began = performance.now();
      for (let i = 0; !signal.aborted && performance.now() - began < ROUND_MS; i++) {
        if (sockets.length < CONNECTIONS) {
          const socket = await openRaw(target.api, requests[i % requests.length] ?? '');
          if (socket) {
            counts.opened = (counts.opened ?? 0) + 1;
            socket.once('close', () => {
              counts.cut = (counts.cut ?? 0) + 1;
              sockets.splice(sockets.indexOf(socket), 1);
            });
            sockets.push(socket);
          } else counts.refused = (counts.refused ?? 0) + 1;
        }
        await pause(1000 / OPENED_PER_SECOND, signal);
      }
      for (const socket of sockets.splice(0)) socket.removeAllListeners('close').destroy();
    }
    return counts;
  },
};

/** Objects of the tenant, so that its list is long. */
async function makeList(api: string, fields: Record<string, string>, signal: AbortSignal): Promise<void> {
  const list = await fetch(`${api}/credentials?limit=${LISTED}`, { headers: fields });
  const { credentials } = (await list.json()) as { credentials?: unknown[] };
  for (let made = credentials?.length ?? 0; made < LISTED && !signal.aborted; made++)
    await fetch(`${api}/credentials`, {
      method: 'POST',
      headers: { ...fields, 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: 'x'.repeat(4000) }),
    }).then((response) => response.arrayBuffer());
}
