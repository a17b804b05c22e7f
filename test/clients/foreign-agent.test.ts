// The original's own agent, where FOREIGN_PACKAGES names the folder in which npm has installed the packages of foreign-packages.json
// (without their scripts), or FOREIGN_AGENT its program, of version 2: it is started by the wrappers on top of it, or as they do. They
// ask its local API for a tunnel as soon as that answers, while the session is being opened.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { newCredential } from '../support/agents/live.ts';
import { startUpstream } from '../support/events/traffic.ts';
import { eventually } from '../support/eventually.ts';
import { sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong } from '../support/shortened.ts';
import { visit } from '../support/visit.ts';
import foreign from './foreign-packages.json' with { type: 'json' };

const packages = process.env.FOREIGN_PACKAGES;
const program = process.env.FOREIGN_AGENT ?? (packages && join(packages, foreign.program));
/** In `npm test` 30 of all ways together. */
const STARTS = isLong ? 30 : 10;

let gateway: TestGateway;
let directory: string;
let config: string;
beforeAll(async () => {
  if (!program) return;
  gateway = await sharedGateway();
  directory = await mkdtemp(join(tmpdir(), 'foreign-agent-'));
  config = join(directory, 'agent.yml');
  const { authtoken } = await newCredential(await gateway.newAccount());
  const ca = join(directory, 'ca.pem');
  await writeFile(ca, gateway.ca);
  const webAddress = `127.0.0.1:${await freePort('127.0.0.1')}`;
  const lines = [
    ...['version: 2', `authtoken: ${authtoken}`, `server_addr: ${gateway.agent}`, `root_cas: ${ca}`],
    ...[`web_addr: ${webAddress}`, 'update: false'],
  ];
  await writeFile(config, lines.join('\n'));
});
afterAll(async () => {
  if (directory) await rm(directory, { recursive: true });
});

/** Starts it without tunnels. @returns the address of its local API, at the moment at which it says that. */
async function start() {
  const agent = spawn(program ?? '', ['start', '--none', '--log=stdout', `--config=${config}`]);
  let said = '';
  const api = await new Promise<string>((resolve, reject) => {
    agent.stdout.on('data', (chunk) => {
      said += chunk;
      const [, address] = /starting web service.*addr=(\S+)/.exec(said) ?? [];
      if (address) resolve(`http://${address}/api/tunnels`);
    });
    agent.once('exit', () => reject(new Error(said)));
    agent.once('error', reject);
  });
  return {
    api,
    async stop() {
      const exit = once(agent, 'exit');
      agent.kill();
      await exit;
    },
  };
}

/** As wrappers ask: again while the agent says that its session is not there yet, and at no other answer. */
function ask(api: string, body: object): Promise<{ status: number; text: string }> {
  return eventually(async () => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(api, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    expect(text).not.toMatch(/session not ready yet|session has not yet been established/);
    return { status: answer.status, text };
  });
}

test.skipIf(!program)(
  `a tunnel that is asked for at once is there, ${STARTS} of ${STARTS} times`,
  {
    timeout: 300_000,
  },
  async () => {
    const upstream = await startUpstream((request, response) => response.end(`for ${request.headers.host}`));
    const port = new URL(upstream.url).port;
    for (let n = 0; n < STARTS; n++) {
      const { api, stop } = await start();
      const hostname = n % 2 === 0 ? { hostname: `foreign-agent-${n}.tunnel.localhost` } : {};
      const rewrite = n % 3 === 0 ? { host_header: 'rewrite' } : {};
      const body = { name: 'one', proto: 'http', addr: port, bind_tls: false, ...hostname, ...rewrite };
      const { status, text } = await ask(api, body);
      expect(status, `start ${n}: ${text}`).toBe(201);
      const { hostname: name } = new URL(JSON.parse(text).public_url);
      if (hostname.hostname) expect(name).toBe(hostname.hostname);
      const host = n % 3 === 0 ? `localhost:${port}` : name;
      expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: `for ${host}` });
      await stop();
    }
  },
);

/** What wrappers have in common. */
interface Wrapper {
  connect(options: object): Promise<string>;
  kill(): Promise<void>;
}

test.skipIf(!packages).each(Object.keys(foreign.wrappers))(
  `%s gets a tunnel, ${STARTS} of ${STARTS} times`,
  { timeout: 300_000 },
  async (name) => {
    const upstream = await startUpstream((request, response) => response.end(`for ${request.headers.host}`));
    const wrapper: Wrapper = createRequire(join(packages ?? '', '/'))(name);
    const options = { proto: 'http', addr: new URL(upstream.url).port, bind_tls: false, configPath: config };
    for (let n = 0; n < STARTS; n++) {
      const wanted = `${name.replace(/\W/g, '')}-${n}.tunnel.localhost`;
      const binPath = () => dirname(program ?? '');
      const url = await wrapper.connect({ ...options, binPath, ...(n % 2 === 0 && { hostname: wanted }) });
      const { hostname } = new URL(url);
      if (n % 2 === 0) expect(hostname).toBe(wanted);
      expect(await visit(`http://${hostname}`, gateway.http)).toMatchObject({ status: 200, body: `for ${hostname}` });
      await wrapper.kill();
    }
  },
);
