// One request each, on a connection of its own, in either protocol.

import { connect as connectHttp2 } from 'node:http2';
import { request as overHttps } from 'node:https';
import { connect as connectTls } from 'node:tls';
import type { Target } from './attack.ts';

/** How long an answer is waited for; the gateway's own deadlines are longer. */
const ANSWER_MS = 5_000;

export async function visitHttp1({ https, ca }: Target, servername: string): Promise<number | 'late' | undefined> {
  const [host, port] = https.split(':');
  const sent = overHttps({ host, port, ca, servername, agent: false, headers: { Host: servername } });
  let status: number | undefined;
  sent.on('response', (response) => {
    status = response.statusCode;
    response.on('error', () => {}).resume();
  });
  return ended(sent.on('error', () => {}).end(), () => status);
}

export async function visitHttp2({ https, ca }: Target, servername: string): Promise<number | 'late' | undefined> {
  const [host, port] = https.split(':');
  const socket = connectTls({ host, port: Number(port), ca, servername, ALPNProtocols: ['h2'] }).on('error', () => {});
  const session = connectHttp2(`https://${servername}`, { createConnection: () => socket }).on('error', () => {});
  const stream = session
    .request({ ':path': '/' })
    .on('error', () => {})
    .resume();
  let status: number | undefined;
  stream.on('response', (fields) => {
    status = fields[':status'];
  });
  return ended(stream, () => status).finally(() => socket.destroy());
}

/** Waits for the end of a request. */
async function ended(
  request: { once(event: 'close', listener: () => void): unknown; destroy(): unknown },
  status: () => number | undefined,
): Promise<number | 'late' | undefined> {
  let deadline: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    deadline = setTimeout(() => {
      resolve('late');
      request.destroy();
    }, ANSWER_MS);
  });
  const closed = new Promise<number | undefined>((resolve) => void request.once('close', () => resolve(status())));
  return Promise.race([closed, late]).finally(() => clearTimeout(deadline));
}
