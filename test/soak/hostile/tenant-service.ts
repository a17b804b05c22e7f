// What an attack needs to be a tenant: services of its own behind agents, and visitors who say and hear raw bytes.

import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { startAgent } from '../../support/agents/agent.ts';
import type { Target } from './attack.ts';

/** What a visitor of raw bytes waits for, in milliseconds, and keeps of the answer, in bytes. */
const PATIENCE_MS = 3000;
const ANSWER_MAX = 64 * 1024;

export interface TenantService {
  /** Names of the endpoints on the HTTP and on the HTTPS listener. */
  names: { http: string; https: string };
  /** Sends bytes as a visitor. @returns what came back until the end, or until patience ended. */
  say(listener: 'http' | 'https', bytes: string): Promise<string>;
  close(): Promise<void>;
}

/** Publishes a service, which need not listen yet, under a name on each listener. */
export async function publish(target: Target, service: Server, slug: string): Promise<TenantService> {
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = service.address() as AddressInfo;
  const directory = await mkdtemp(join(tmpdir(), 'hostile-'));
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, target.ca);
  const names = { http: `${slug}-http.${target.baseDomain}`, https: `${slug}-https.${target.baseDomain}` };
  const agents = await Promise.all(
    (['http', 'https'] as const).map((protocol) =>
      startAgent({
        authtoken: target.tenant.authtoken,
        gateway: target.agent,
        caFile,
        args: [protocol, String(port), '--domain', names[protocol]],
      }),
    ),
  );
  await Promise.all(agents.map((agent) => agent.printed(/https?:\/\/\S+/)));
  return {
    names,
    say: (listener, bytes) => say(target, listener, names[listener], bytes),
    async close() {
      await Promise.all(agents.map((agent) => agent.remove()));
      service.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function say(target: Target, listener: 'http' | 'https', servername: string, bytes: string): Promise<string> {
  const url = new URL(`tcp://${target[listener].replace(/^\w+:\/\//, '')}`);
  const to = { host: url.hostname, port: Number(url.port) };
  const socket = listener === 'http' ? connect(to) : connectTls({ ...to, servername, ca: target.ca });
  let text = '';
  return new Promise((resolve) => {
    const patience = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.length > ANSWER_MAX) socket.destroy();
    });
    socket.on('error', () => {}); // `close` follows.
    socket.on('close', () => {
      clearTimeout(patience);
      resolve(text);
    });
    socket.write(Buffer.from(bytes, 'latin1'));
  });
}
