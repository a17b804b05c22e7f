// Any worker serves any tunnel: a visitor who comes to another worker than the agent's is handed on.

import type { Agent as HttpAgent } from 'node:http';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { serve, service } from '../cluster/support.ts';
import { visit } from '../support/visit.ts';
import { type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';

/** With a connection for each visit, so many come to both workers. */
const VISITS = 25;
/** Two agents at each worker. */
const AGENTS = [...WORKERS, ...WORKERS];

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup();
});
afterAll(() => group?.close());

const protocols = ['http', 'https'] as const;

test.each(protocols)('whichever worker an %s visitor comes to, the tunnel that was asked answers', async (protocol) => {
  const names = AGENTS.map((_, index) => `${protocol}-${index}.tunnel.localhost`);
  for (const [index, worker] of AGENTS.entries()) {
    const port = await service((_, response) => void response.end(names[index]));
    await serve(await group.agentAt(worker), port, { protocol, domain: names[index] as string });
  }
  const options = (agent?: HttpAgent) => ({ ca: group.ca, ...(agent && { agent }) });
  const ask = (agent?: HttpAgent) =>
    Promise.all(
      names.map(async (name) => {
        const { body } = await visit(`${protocol}://${name}/`, group.gateway[protocol], options(agent));
        return body;
      }),
    );
  for (const worker of WORKERS) expect(await ask(await group.connectionAt(worker, protocol))).toEqual(names);
  for (let turn = 0; turn < VISITS; turn++) expect(await ask()).toEqual(names);
});

test('the request log has what came to each worker', async () => {
  const port = await service((_, response) => void response.end());
  const url = await serve(await group.agentAt(0), port);
  for (const worker of WORKERS)
    await visit(url, group.gateway.http, { path: `/${worker}`, agent: await group.connectionAt(worker) });
  const log = await group.graphql(`{ requestLog(text: "${new URL(url).hostname}") { partial nodes { path } } }`);
  expect(log).toEqual({ partial: false, nodes: [...WORKERS].reverse().map((worker) => ({ path: `/${worker}` })) });
});

test('whichever worker a TCP visitor comes to, the tunnel of the port answers', async () => {
  const urls: string[] = [];
  for (const [index, worker] of AGENTS.entries()) {
    const server = createServer((socket) => socket.on('error', () => {}).end(`tunnel ${index}`));
    onTestFinished(() => void server.close());
    urls.push(await serve(await group.agentAt(worker), await listen(server), { protocol: 'tcp' }));
  }
  const ask = () => Promise.all(urls.map((url) => text(connect(Number(new URL(url).port), '127.0.0.1'))));
  const expected = urls.map((_, index) => `tunnel ${index}`);
  for (let turn = 0; turn < VISITS; turn++) expect(await ask()).toEqual(expected);
});
