// A name with two addresses, of which the first is slow to answer, as on mobile networks, and the second cannot be reached.

import dns from 'node:dns';
import { once } from 'node:events';
import net, {
  connect,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { dial } from '../../../agent/src/client/dial.ts';
import { connectUpstream } from '../../../agent/src/client/upstream.ts';
import { connectThrough } from '../../../agent/src/proxy/connect-through.ts';
import { dial as dialAddress } from '../../../src/edge/dialing/dial.ts';
import { ADDRESS_ATTEMPT_MS, giveAddressesTime } from '../../../src/protocol/index.ts';
import { newDirectory, runToEnd } from '../agents.ts';

const NAME = 'dual-stack.example.com';
const FIRST = '127.0.0.1';
const SECOND = '::1';
const ADDRESSES = [
  { address: FIRST, family: 4 },
  { address: SECOND, family: 6 },
];

/** Accepts nothing until it is told to; then closes each connection at once. */
const SLOW_SERVER = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((socket) => socket.on('error', () => {}).end());
  server.listen({ port: 0, host: '${FIRST}', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
  });
`;

/** A server whose queue of connections is full, so that the kernel takes the next one when it is asked again, a second later. */
async function slowServer(): Promise<{ port: number; accept(): void }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SLOW_SERVER, { eval: true, workerData: gate });
  const accept = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  const [port] = (await once(worker, 'message')) as [number];
  const queued = [1, 2].map(() => connect(port, FIRST).on('error', () => {}));
  onTestFinished(async () => {
    accept();
    for (const socket of queued) socket.destroy();
    await worker.terminate();
  });
  await Promise.all(queued.map((socket) => once(socket, 'connect')));
  return { port, accept };
}

/** Runs as a process does that gives addresses time. */
function withTime(): void {
  const usual = getDefaultAutoSelectFamilyAttemptTimeout();
  onTestFinished(() => setDefaultAutoSelectFamilyAttemptTimeout(usual));
  giveAddressesTime();
}

test.skipIf(process.platform !== 'linux')('is connected to at the first, whoever dials', async () => {
  withTime();
  const { port, accept } = await slowServer();
  let lookups = 0;
  vi.spyOn(dns, 'lookup').mockImplementation(((_name: string, _options: object, found: (...all: unknown[]) => void) => {
    lookups++;
    setImmediate(found, null, ADDRESSES);
  }) as unknown as typeof dns.lookup);
  onTestFinished(() => void vi.restoreAllMocks());

  const target = { host: NAME, port };
  const never = new AbortController().signal;
  const failure = (attempt: Promise<unknown>) => attempt.then(String, (error: Error) => error.message);
  const { socket, ready } = connectUpstream({ ...target, tls: 'none' }, [FIRST, SECOND]);
  const upstream = once(socket, ready).then(
    () => socket.remoteAddress,
    (error: Error) => error.message,
  );
  const gateway = failure(
    dial({ ...target, ca: undefined, proxy: null, address: undefined }, { dial: 9000, tls: 9000 }, never),
  );
  const proxy = { scheme: 'http', host: NAME, port, login: null } as const;
  const proxied = failure(
    connectThrough(proxy, { host: 'gateway.example.com', port: 443 }, { ca: undefined, timeout: 9000 }),
  );
  let address: string | undefined;
  const service = dialAddress(
    { ...target, tls: false, protocols: undefined },
    {
      isAllowed: () => true,
      resolve: (_name, _options, found) => setImmediate(found, null, ADDRESSES),
      authorities: undefined,
    },
    (connected) => {
      address = connected.remoteAddress;
      connected.destroy();
    },
  );
  // Two turns after their look-up, which they share, all have begun to connect.
  await vi.waitFor(() => expect(lookups).toBe(1));
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  accept();
  expect(await upstream).toBe(FIRST);
  expect(await gateway).toMatch(/^TLS with the gateway/);
  expect(await proxied).toMatch(/does not connect to gateway\.example\.com:443/);
  expect([await service, address]).toEqual([undefined, FIRST]);
  socket.destroy();
});

test('what an operator gave Node is kept, if it is longer', () => {
  withTime();
  setDefaultAutoSelectFamilyAttemptTimeout(9999);
  giveAddressesTime();
  expect(net.getDefaultAutoSelectFamilyAttemptTimeout()).toBe(9999);
});

test('the agent gives addresses that time', async () => {
  const { path, remove } = newDirectory();
  onTestFinished(remove);
  const script = `import net from 'node:net'; process.on('exit', () => console.log('each ' + net.getDefaultAutoSelectFamilyAttemptTimeout()));`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
  const { stdout } = await runToEnd(path, ['diagnose'], env);
  expect(stdout).toContain(`each ${ADDRESS_ATTEMPT_MS}`);
});
