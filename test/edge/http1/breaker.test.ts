// A circuit breaker before a service on real sockets: what must not keep it open once the service is well.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { circuitBreaker, circuitBreakerDefaults } from '../../../src/edge/modules/circuit-breaker.ts';
import { noVisits } from '../tls/support.ts';
import { GET, OK, startApp } from './app.ts';
import { type Edge, moduleRules, startEdge, visit } from './support.ts';

let edge: Edge;
/** A clock that goes on only when a test says so. */
const clock = { ms: 1000 };

beforeAll(async () => {
  const services = { ...noVisits, logRefusal() {} };
  edge = await startEdge({ context: { now: () => clock.ms, services } });
});
afterAll(() => edge.close());

test('it is closed within two times its duration, beside long polls, trials without an answer and trickled bodies', async () => {
  const app = await startApp(edge);
  const settings = { ...circuitBreakerDefaults, trippedDuration: 2, volumeThreshold: 1 };
  const module = circuitBreaker(settings, { now: () => clock.ms });
  Object.assign(app.endpoint, moduleRules([module]));
  const send = async (request = GET) => (await visit(edge.port)).send(request);
  const refused = async () => expect(await (await send()).until('ERR_GATEWAY_')).toMatch(/^HTTP\/1\.1 503 /);

  const first = await send();
  await (await app.next()).send(OK.replace('200', '500')).until('\r\n\r\n');
  await first.until('ok');
  await refused();
  clock.ms += 2000;
  await send();
  await (await app.next()).until('\r\n\r\n'); // It is never answered.
  await refused();
  await send('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 100\r\n\r\na');
  await (await app.next()).until('\r\n\r\na'); // Nor is the rest of the body ever sent.
  await refused();
  clock.ms += 2000;
  const trial = await send();
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(OK);
  expect(await trial.until('ok')).toMatch(/^HTTP\/1\.1 200 /);
  expect(module.breaker.snapshot().state).toBe('closed');
});

test('a trial whose visitor leaves, by FIN too, gives its place to the next at once', async () => {
  const app = await startApp(edge);
  const module = circuitBreaker({ ...circuitBreakerDefaults, volumeThreshold: 1 }, { now: () => clock.ms });
  Object.assign(app.endpoint, moduleRules([module]));
  const first = (await visit(edge.port)).send(GET);
  await (await app.next()).send(OK.replace('200', '500')).until('\r\n\r\n');
  await first.until('ok');
  clock.ms += 10_000;
  const leaves = (await visit(edge.port)).send(GET);
  const given = await app.next();
  await given.until('\r\n\r\n');
  leaves.socket.end();
  expect(await given.closed).toBe('reset');
  const next = (await visit(edge.port)).send(GET);
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(OK);
  await next.until('ok');
});
