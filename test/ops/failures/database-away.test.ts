import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';

const RECOVERY = { timeout: 15_000, interval: 50 };

describe.runIf(onServer)('while the PostgreSQL server cannot be reached', () => {
  let place: Place;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  beforeAll(async () => {
    place = await newPlace();
    const url = new URL(place.env.DATABASE_URL ?? '');
    proxy = await startFaultProxy(url.hostname, Number(url.port || 5432));
    url.host = `127.0.0.1:${proxy.port}`;
    gateway = await startTestGateway({ DATABASE_URL: url.href }, { place });
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
    await place.remove();
  });

  const goAway = async () => {
    proxy.refuse();
    await proxy.cut();
  };
  const ready = async () => (await fetch(`${gateway.admin}/readyz`)).status;

  test('the gateway says so at both doors and in its health, and serves again by itself when it is back', async () => {
    const { newAccount, call, graphql } = gateway;
    const stranger = await newAccount(); // Its key was never used: it has to be looked up.
    expect((await call('POST', '/credentials')).status).toBe(201);

    await goAway();
    const away = {
      status: 503,
      headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
      body: { error_code: 'ERR_GATEWAY_90080', status_code: 503 },
    };
    expect(await call('GET', '/credentials')).toMatchObject(away);
    // These ask first which nodes live, in SQL.
    for (const path of ['/tunnel_sessions', '/tunnels', '/endpoints'])
      expect(await call('GET', path), path).toMatchObject(away);
    expect(await call('POST', '/credentials', {})).toMatchObject(away);
    expect(await call('POST', '/credentials', {}, { headers: { 'idempotency-key': 'away' } })).toMatchObject(away);
    expect(await stranger.call('GET', '/credentials')).toMatchObject(away);
    const answer = await graphql('{ credentials { totalCount } }');
    expect(answer.headers['retry-after']).toMatch(/^[1-9]/);
    expect(answer.body.errors[0].extensions).toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
      errorCode: 'ERR_GATEWAY_90080',
    });
    expect(await ready()).toBe(503);
    expect((await fetch(`${gateway.admin}/livez`)).status).toBe(200);
    // What needs no database is answered as ever.
    expect((await call('GET', '/')).status).toBe(200);
    expect((await call('PUT', '/credentials')).status).toBe(405);

    await proxy.heal();
    await eventually(async () => expect(await ready()).toBe(200), RECOVERY);
    expect((await call('POST', '/credentials', {}, { headers: { 'idempotency-key': 'away' } })).status).toBe(201);
    expect((await stranger.call('GET', '/credentials')).status).toBe(200);
    expect(gateway.fatal).toEqual([]);
  });

  test('what was announced meanwhile is not missed for long: a key deleted elsewhere is refused when it is back', async () => {
    const { body } = await gateway.call('POST', '/api_keys', {});
    const use = () => gateway.call('GET', '/credentials', undefined, { key: body.token });
    expect((await use()).status).toBe(200);
    await goAway();
    const other = await startTestGateway({}, { place });
    try {
      expect((await other.call('DELETE', `/api_keys/${body.id}`)).status).toBe(204);
    } finally {
      await other.close();
    }
    await proxy.heal();
    await eventually(async () => expect(await ready()).toBe(200), RECOVERY);
    expect((await use()).status).toBe(401);
  });
});
