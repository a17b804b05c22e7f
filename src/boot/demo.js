// `npm run demo`: a complete example in one terminal: a real gateway, service, agent and visitor, on free ports and in a
// temporary directory.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { callApi, visit } from './demo/clients.js';
import { startGateway } from './demo/gateway.js';
import { linesUntil, Processes, say, step } from './demo/processes.js';
import { prepare } from './prepare.js';

await prepare({ onlyToRun: true });

const processes = new Processes();
try {
  await journey();
} finally {
  await processes.end();
}

async function journey() {
  step('A gateway starts, with an embedded database of its own.');
  const { ready, key, at } = await startGateway(processes, processes.directory);
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
  const agent = processes.start('agent/dist/agent.js', ['http', String(port)], {
    TUNNEL_AUTHTOKEN: credential.token,
    GATEWAY_ADDR: at('agent'),
    GATEWAY_CA: join(processes.directory, 'ca.pem'),
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
  function api(method, path, body) {
    return callApi(at('api'), key, method, path, body);
  }
}
