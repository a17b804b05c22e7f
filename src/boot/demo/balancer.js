// What stands in front of the gateways of a demo, for visitors and for agents: HAProxy where it is installed.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { hasEnded } from './processes.js';

/** Debian has it in /usr/sbin, which is not on everybody's PATH. */
const PLACES = ['', '/usr/sbin/', '/usr/local/sbin/'];
const RETRY_MS = 20;
const START_MS = 10_000;

/**
 * @typedef {object} Node
 * @property {string} name
 * @property {(name: string) => string} at its listeners: `http` and `agent` as `host:port`, `admin` as a URL.
 */

/**
 * @typedef {object} Balancer
 * @property {string} does what it is and does, for the reader.
 * @property {string} http where visitors connect, `host:port`.
 * @property {string} agent where agents connect, `host:port`.
 * @property {() => void} close
 */

/**
 * @param {import('./processes.js').Processes} processes
 * @param {Node[]} nodes
 * @returns {Promise<Balancer>}
 */
export async function startBalancer(processes, nodes) {
  const haproxy = await findHaproxy(processes);
  return haproxy ? startHaproxy(processes, haproxy, nodes) : startRelay(nodes);
}

/** @param {import('./processes.js').Processes} processes @returns {Promise<string | undefined>} the program. */
async function findHaproxy(processes) {
  for (const place of PLACES) {
    const child = processes.run(`${place}haproxy`, ['-v']);
    const isThere = await new Promise((resolve) => {
      child.on('error', () => resolve(false)).on('exit', (code) => resolve(code === 0));
    });
    if (isThere) return `${place}haproxy`;
  }
  return undefined;
}

/**
 * @param {import('./processes.js').Processes} processes
 * @param {string} program
 * @param {Node[]} nodes
 * @returns {Promise<Balancer>}
 */
async function startHaproxy(processes, program, nodes) {
  const [http, agent] = await freePorts(2);
  const servers = (/** @type {string} */ listener) =>
    nodes.map(({ name, at }) => `  server ${name} ${at(listener)} check port ${new URL(at('admin')).port}`).join('\n');
  const settings = join(processes.directory, 'haproxy.cfg');
  writeFileSync(
    settings,
    `defaults
  mode tcp
  timeout connect 1s
  timeout client 1m
  timeout server 1m
  timeout check 1s
  retries 3
  option redispatch
  default-server inter 250ms fall 1 rise 1
listen visitors
  option httpchk GET /readyz
  mode http
  bind 127.0.0.1:${http}
  balance roundrobin
  # A request that may be repeated is, when its node has gone before it answered.
  http-request disable-l7-retry unless METH_GET
  retry-on conn-failure empty-response
${servers('http')}
listen agents
  # Agents leave a node that does not answer, and not one that waits for its database.
  option httpchk GET /livez
  default-server on-marked-down shutdown-sessions
  bind 127.0.0.1:${agent}
  balance roundrobin
${servers('agent')}
`,
  );
  const child = processes.run(program, ['-db', '-q', '-f', settings]);
  await listening(child, Number(http));
  return {
    does: 'HAProxy stands in front of them, and sends each to the next node in turn that says at /readyz that it is ready.',
    http: `127.0.0.1:${http}`,
    agent: `127.0.0.1:${agent}`,
    close: () => {},
  };
}

/** @param {import('node:child_process').ChildProcess} child @param {number} port */
async function listening(child, port) {
  for (const begun = performance.now(); performance.now() - begun < START_MS; ) {
    if (hasEnded(child)) throw new Error('HAProxy has ended');
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  throw new Error('HAProxy does not listen');
}

/** @param {Node[]} nodes @returns {Promise<Balancer>} */
async function startRelay(nodes) {
  const servers = await Promise.all(['http', 'agent'].map((name) => relay(nodes.map(({ at }) => at(name)))));
  const [http = '', agent = ''] = servers.map(addressOf);
  return {
    does: 'HAProxy is not installed: in its place each connection goes to a node at random, and to another when that one refuses.',
    http,
    agent,
    close() {
      for (const server of servers) server.close();
    },
  };
}

/** A server that joins each connection to one of the targets. @param {string[]} targets */
async function relay(targets) {
  const server = createServer((near) => {
    near.on('error', () => {});
    joinFirst(near, shuffled(targets));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

/** @param {import('node:net').Socket} near @param {string[]} targets the first that takes the connection gets it. */
function joinFirst(near, [target, ...others]) {
  if (!target) return void near.destroy();
  const [host, port] = target.split(':');
  const far = connect(Number(port), host);
  const onRefused = () => joinFirst(near, others);
  far.once('error', onRefused).once('connect', () => {
    far.off('error', onRefused).on('error', () => {});
    near.on('close', () => far.destroy()).pipe(far);
    far.on('close', () => near.destroy()).pipe(near);
  });
}

/** @param {number} count @returns {Promise<string[]>} ports of 127.0.0.1 that were free a moment ago. */
async function freePorts(count) {
  const servers = await Promise.all(Array.from({ length: count }, () => relay([])));
  const ports = servers.map((server) => addressOf(server).split(':')[1] ?? '');
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

/** @param {import('node:net').Server} server */
function addressOf(server) {
  const { address, port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `${address}:${port}`;
}

/** @param {string[]} all */
function shuffled(all) {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
