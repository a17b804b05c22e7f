// `npm run cluster`: three gateways on one database, any of which serves any name, and what happens when two of them are killed.
// They run on loopback addresses of their own, with a database of their own in the PostgreSQL server of tests.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { SIGNALS } from './command.js';
import { startBalancer } from './demo/balancer.js';
import { callApi, visit } from './demo/clients.js';
import { createDatabase } from './demo/database.js';
import { startGateway } from './demo/gateway.js';
import { linesUntil, Processes, say, step } from './demo/processes.js';
import { Visitors } from './demo/visitors.js';
import { prepare } from './prepare.js';

const NODES = 3;
/** So many visits are counted around each kill. */
const VISITS = 200;
const ANSWER = 'Hello from the device!';

await prepare({ onlyToRun: true });

const processes = new Processes();
/** What is to be ended, the last one first. @type {(() => unknown)[]} */
const ends = [() => processes.end()];
/** @type {Promise<void> | undefined} */
let ended;

for (const signal of SIGNALS) process.on(signal, () => void end().then(() => process.exit(130)));
try {
  await journey();
} catch (error) {
  // After a signal, whatever was under way fails.
  if (!ended) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
} finally {
  await end();
}

function end() {
  ended ??= (async () => {
    for (const each of ends.splice(0).reverse()) await each();
  })();
  return ended;
}

async function journey() {
  step('A PostgreSQL database, which the gateways share.');
  const database = await createDatabase();
  // The gateways end before it is dropped.
  ends.unshift(() => database.drop());
  say(new URL(database.url).pathname.slice(1));

  step(`${NODES} gateways start, with one SERVER_KEY, and NODE_ADDR says where the others reach each of them.`);
  const shared = { DATABASE_URL: database.url, SERVER_KEY: randomBytes(32).toString('base64'), DRAIN_MS: '500' };
  const nodes = [];
  for (let number = 1; number <= NODES; number++) nodes.push(await startNode(number, shared));
  const [first] = nodes;
  if (!first) throw new Error('there is no gateway');
  const balancer = await startBalancer(processes, nodes);
  ends.push(() => balancer.close());
  say(balancer.does);

  step('A service on loopback, and an agent that connects to whichever node it gets.');
  const service = createServer((_, response) => response.end(`${ANSWER}\n`));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => {
    service.close();
    service.closeAllConnections();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (service.address());
  const { token } = await callApi(first.at('api'), first.key, 'POST', '/credentials', {
    acl: ['bind:*.tunnel.localhost'],
  });
  const agent = processes.start('agent/dist/agent.js', ['http', String(port)], {
    TUNNEL_AUTHTOKEN: token,
    GATEWAY_ADDR: balancer.agent,
    GATEWAY_CA: join(processes.directory, 'node1', 'ca.pem'),
    LOG_LEVEL: 'error',
  });
  const [, url = ''] = /(http:\S+)/.exec((await linesUntil(agent, /http:/)).at(-1) ?? '') ?? [];
  say(url);

  step('A visitor comes to each node.');
  for (const { name, at } of nodes) {
    const { status, body } = await visit(url, at('http'));
    say(`${name}: ${status}  ${body}`);
    if (status !== 200) throw new Error(`${name} did not serve the visitor`);
  }
  const owner = await ownerAmong(nodes);
  say(`The agent is at ${owner.name}; the others forward their visitors to it.`);

  const visitors = new Visitors(url, balancer.http, ANSWER);
  ends.push(() => visitors.end());
  await visitors.more(VISITS);
  const before = visitors.take();
  step(`Visitors come all the time: ${before.served} were served, ${before.failed} were not.`);

  const [bystander] = nodes.filter((node) => node !== owner);
  if (!bystander) throw new Error('there is no other gateway');
  step(`kill -9 of ${bystander.name}, which does not have the agent.`);
  await kill(bystander, visitors);

  step(`kill -9 of ${owner.name}, which has the agent.`);
  await kill(owner, visitors);
  const left = nodes.filter((node) => node !== bystander && node !== owner);
  say(`The agent is at ${(await ownerAmong(left)).name} now.`);
  step('All of it is ended, and the database dropped.');
}

/** @param {Awaited<ReturnType<typeof startNode>>} node @param {Visitors} visitors */
async function kill(node, visitors) {
  visitors.take();
  const at = performance.now();
  node.child.kill('SIGKILL');
  const again = await visitors.servedAfter(at);
  await visitors.more(VISITS);
  const { served, failed, lastFailedAt } = visitors.take();
  const last = failed > 0 ? `, the last of them ${Math.round(lastFailedAt - at)} ms after it` : '';
  say(
    `The next visit is served ${Math.round(again - at)} ms after it; ${served} were served, ${failed} failed${last}.`,
  );
}

/** @param {number} number @param {Record<string, string>} shared */
async function startNode(number, shared) {
  const name = `node${number}`;
  const dataDir = join(processes.directory, name);
  mkdirSync(dataDir, { mode: 0o700 });
  // Visitors and agents trust one authority. In production, the nodes have the same certificate in TLS_DIR.
  if (number > 1)
    for (const file of ['ca.pem', 'ca.key'])
      copyFileSync(join(processes.directory, 'node1', file), join(dataDir, file));
  const host = `127.0.1.${number}`;
  const gateway = await startGateway(processes, dataDir, { ...shared, HOST: host, NODE_ADDR: host, NODE_PORT: '0' });
  say(`${name}: ${gateway.ready}`);
  return { name, ...gateway };
}

/**
 * @param {Awaited<ReturnType<typeof startNode>>[]} nodes
 * @returns the node that counts a session of an agent among its metrics.
 */
async function ownerAmong(nodes) {
  for (const node of nodes) {
    const text = await (await fetch(`${node.at('admin')}/metrics`)).text();
    if (Number(/^tunnel_sessions (\d+)/m.exec(text)?.[1]) > 0) return node;
  }
  throw new Error('no node has the agent');
}
