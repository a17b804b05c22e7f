// Who may use the agent's local API: pages of other sites, and requests without the token, may not.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendRaw } from '../../support/gateway/http.ts';
import { type LocalAgent, newDirectory, startLocal } from '../agents.ts';

const places = [newDirectory(), newDirectory()] as const;
let open: LocalAgent;
let guarded: LocalAgent;
const TOKEN = 'a-token-of-the-tests';

beforeAll(async () => {
  open = await startLocal(places[0].path, {});
  guarded = await startLocal(places[1].path, { AGENT_API_TOKEN: TOKEN, AGENT_DOMAIN: 'agent.example.com' });
});
afterAll(async () => {
  await Promise.all([open.close(), guarded.close()]);
  for (const { remove } of places) remove();
});

const port = () => new URL(open.api).port;

describe('pages of other sites cannot ask the API:', () => {
  test.each([
    ['localhost', 200],
    ['LOCALHOST.', 200],
    ['127.0.0.1', 200],
    ['127.1.2.3:9999', 200],
    ['[::1]:80', 200],
    ['agent.example.com', 403],
    ['evil.example.com', 403],
    ['localhost.evil.example.com', 403],
    ['tunnel.localhost', 403],
    ['127.0.0.1.evil.example.com', 403],
    ['192.168.1.5', 403],
    ['localhost@evil.example.com', 403],
  ])('a request for the host %s gets %i', async (host, status) => {
    expect((await open.ask('GET', '/tunnels', undefined, { host })).status).toBe(status);
    expect((await open.ask('GET', '/healthz', undefined, { host })).status).toBe(status);
  });

  test('the name that it is published under is one of its own', async () => {
    const ask = (host: string) => guarded.ask('GET', '/tunnels', undefined, { host, authorization: `Bearer ${TOKEN}` });
    expect((await ask('agent.example.com')).status).toBe(200);
    expect((await ask('Agent.Example.com:8443')).status).toBe(200);
    expect((await ask('other.example.com')).status).toBe(403);
  });

  test.each([
    ['http://evil.example.com', 403],
    ['null', 403],
    ['file://', 403],
    ['http://localhost', 403],
    ['http://localhost:1', 403],
    ['http://localhost:PORT', 200],
    ['http://LOCALHOST:PORT', 200],
  ])('one with the origin %s gets %i', async (origin, status) => {
    const headers = { host: `localhost:${port()}`, origin: origin.replace('PORT', port()) };
    expect((await open.ask('GET', '/tunnels', undefined, headers)).status).toBe(status);
    const answer = await open.ask('POST', '/tunnels', {}, headers);
    expect(answer.status).toBe(status === 200 ? 400 : status);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('without a host there is no answer but a refusal', async () => {
    expect(await sendRaw(open.api, 'GET /tunnels HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await sendRaw(open.api, 'GET /tunnels HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('with AGENT_API_TOKEN', () => {
  test('everything but probes needs the token', async () => {
    const wrong = [undefined, 'Bearer', 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, TOKEN];
    for (const authorization of wrong) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      for (const path of ['/tunnels', '/status', '/metrics', '/tunnels/x', '/nothing'])
        expect(await guarded.ask('GET', path, undefined, headers)).toMatchObject({
          status: 401,
          body: { detail: expect.stringContaining('AGENT_API_TOKEN') },
          headers: { 'www-authenticate': 'Bearer' },
        });
      expect((await guarded.ask('GET', '/healthz', undefined, headers)).status).toBe(200);
      expect((await guarded.ask('GET', '/readyz', undefined, headers)).status).toBe(503);
    }
    const answer = await guarded.ask('GET', '/tunnels', undefined, { authorization: `bearer ${TOKEN}` });
    expect(answer.status).toBe(200);
  });

  test('publishing needs no warning', () => {
    expect(guarded.log.all.filter((line) => line.includes('AGENT_API_TOKEN'))).toEqual([]);
  });
});
