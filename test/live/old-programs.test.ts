// Old programs at both ends, through the gateway and an agent: visitors of HTTP/1.0, and services whose fields nobody writes so any more.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { listen } from '../edge/sockets.ts';
import { newCredential } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

let gateway: TestGateway;
let account: Account;
let agent: TestClient;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  const [host = '', port] = gateway.agent.split(':');
  const { authtoken } = await newCredential(account);
  agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken }, PATIENT);
});
afterAll(() => agent?.client.close());

/** A service behind the agent. It ends with the test. @returns its URL. */
async function serve(service: Server): Promise<string> {
  onTestFinished(() => void service.close());
  return agent.open({ forwardsTo: `127.0.0.1:${await listen(service)}` }).answered;
}

test('a visitor of HTTP/1.0 that asks for it, as `ab -k` does, keeps its connection', async () => {
  const versions: string[] = [];
  const service = createServer((request, response) => {
    versions.push(request.httpVersion);
    response.setHeader('content-length', 5);
    response.end('hello');
  });
  const url = await serve(service);
  const [host, port] = gateway.http.split(':');
  const visitor = connect(Number(port), host).setEncoding('latin1');
  onTestFinished(() => void visitor.destroy());
  for (let request = 1; request <= 3; request++) {
    visitor.write(`GET / HTTP/1.0\r\nHost: ${new URL(url).host}\r\nConnection: Keep-Alive\r\n\r\n`);
    let answer = '';
    while (!answer.endsWith('hello')) answer += (await once(visitor, 'data'))[0];
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: keep-alive\r\n/is);
  }
  expect(versions).toEqual(['1.1', '1.1', '1.1']);
});

test.each([
  ['is folded over several lines', 'X-Note: a\r\n b'],
  ['has a space behind its name', 'X-Note : a'],
])('the log of the gateway says which field of a service %s', async (what, field) => {
  const service = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${field}\r\nContent-Length: 2\r\n\r\nok`));
  });
  const url = await serve(service);
  expect(await visit(url, gateway.http)).toMatchObject({
    status: 502,
    headers: { 'gateway-error-code': 'ERR_GATEWAY_90106' },
  });
  const reason = `the header field "X-Note" of the service ${what}`;
  expect(await gateway.logged((line) => line.reason === reason)).toMatchObject({
    msg: 'the response of a service is not valid HTTP',
    accountId: account.accountId,
    endpointId: expect.stringMatching(/^ep_/),
  });
});
