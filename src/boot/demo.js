// `npm run demo`: a complete example in one terminal: a real gateway, service, agent and visitor, on free ports and in a
// temporary directory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './command.js';
import { prepare } from './prepare.js';

await prepare({ onlyToRun: true });

const directory = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
/** @type {import('node:child_process').ChildProcess[]} */
const children = [];
try {
  await journey();
} finally {
  for (const child of children.reverse()) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  rmSync(directory, { recursive: true });
}

async function journey() {
  step('A gateway starts, with an embedded database of its own.');
  const ports = Object.fromEntries(['API', 'ADMIN', 'AGENT', 'HTTP', 'HTTPS'].map((name) => [`${name}_PORT`, '0']));
  const gateway = start('dist/main.js', [], { ...ports, TCP_PORTS: '0', DATA_DIR: directory, LOG_LEVEL: 'error' });
  const printed = await linesUntil(gateway, /^ready /);
  const ready = printed.at(-1) ?? '';
  const key = printed.find((line) => line.startsWith('API key: '))?.slice('API key: '.length) ?? '';
  const at = (/** @type {string} */ name) => new RegExp(` ${name}=(\\S+)`).exec(ready)?.[1] ?? '';
  say(ready);

  step('A service that nobody outside can reach: it listens on loopback only.');
  const service = createServer((_, response) => response.end('Hello from the device!\n'));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (service.address());
  say(`http://127.0.0.1:${port}`);

  step('POST /credentials: an authtoken for the device, which may bind names below the base domain only.');
  const credential = await api('POST', '/credentials', {
    description: 'demo device',
    acl: ['bind:*.tunnel.localhost'],
  });
  say(`${credential.id}  acl ${JSON.stringify(credential.acl)}`);

  step('On the device, the agent opens a tunnel.');
  const agent = start('agent/dist/agent.js', ['http', String(port)], {
    TUNNEL_AUTHTOKEN: credential.token,
    GATEWAY_ADDR: at('agent'),
    GATEWAY_CA: join(directory, 'ca.pem'),
    LOG_LEVEL: 'error',
  });
  const [, url = ''] = /(http:\S+)/.exec((await linesUntil(agent, /http:/)).at(-1) ?? '') ?? [];
  say(url);

  step('A visitor comes.');
  const answer = await visit(url, at('http'));
  say(`${answer.status}  ${answer.body}`);
  if (answer.status !== 200) throw new Error('the visitor was not answered');

  step('GraphQL shows what is live.');
  const query = '{ endpoints { nodes { publicUrl proto } } tunnelSessions { nodes { agentVersion os ip } } }';
  say(JSON.stringify((await api('POST', '/graphql', { query })).data));

  step('DELETE /credentials/…: the session ends, and the endpoint with it.');
  await api('DELETE', `/credentials/${credential.id}`);
  for (;;) {
    const { endpoints } = await api('GET', '/endpoints');
    if (endpoints.length === 0) break;
  }
  const gone = await visit(url, at('http'));
  say(`${gone.status}  ${gone.body}`);
  service.close();
  service.closeAllConnections();

  /** @param {string} method @param {string} path @param {object} [body] */
  async function api(method, path, body) {
    const response = await fetch(`${at('api')}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Service-Version': '2',
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }
}

/**
 * Sends a request as a visitor. Browsers resolve all names below `localhost` to this machine; Node uses the system's
 * resolver, which may not.
 * @param {string} url
 * @param {string} listener
 * @returns {Promise<{ status: number | undefined, body: string }>}
 */
function visit(url, listener) {
  const [host, port] = listener.split(':');
  return new Promise((resolve, reject) => {
    request({ host, port, headers: { Host: new URL(url).host } }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode, body: body.trim() });
    })
      .on('error', reject)
      .end();
  });
}

/** @param {string} file @param {string[]} args @param {Record<string, string>} env */
function start(file, args, env) {
  const child = spawn(process.execPath, [join(root, file), ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {RegExp} pattern
 * @returns {Promise<string[]>} what it printed, up to the line that matches.
 */
async function linesUntil(child, pattern) {
  const lines = [];
  if (!child.stdout) throw new Error('nothing to read');
  const reader = createInterface({ input: child.stdout });
  for await (const line of reader) {
    lines.push(line);
    if (pattern.test(line)) return lines;
  }
  throw new Error(`ended after: ${lines.join('\n')}`);
}

/** @param {string} text */
function step(text) {
  process.stdout.write(`\n${text}\n`);
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`  ${text}\n`);
}
