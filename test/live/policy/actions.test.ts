// Every action on a route of an edge: it acts as soon as it is set, as it was set last. Of a few it is shown that they do not
// when they are switched off, which is the same for all.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { actionKinds } from '../../../src/policy/actions/registry.ts';
import { type AskedServer, says, startAskedServer } from '../../policy/actions/asked-server.ts';
import { type Issuer, keyPair, signed, startIssuer } from '../../policy/actions/issuer.ts';
import { ORIGIN } from '../../policy/documents/support.ts';
import { newCredential, reserve } from '../../support/agents/live.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace, type Place } from '../../support/gateway/place.ts';
import { shortened } from '../../support/shortened.ts';
import type { ActionCase, Stage } from './action-case.ts';
import { actionCases } from './action-cases.ts';
import { connectAgent, type LabAgent, type ShowingUpstream, startShowingUpstream, visitOf } from './lab.ts';

const HOST = 'actions.tunnel.localhost';
const LABELS = { app: 'actions' };

let place: Place;
let gateway: TestGateway;
let authtoken: string;
let agent: LabAgent;
let upstream: ShowingUpstream;
let issuer: Issuer;
let guests: AskedServer;
let cases: ActionCase[];
const routes = new Map<string, string>();

beforeAll(async () => {
  place = await newPlace();
  upstream = await startShowingUpstream();
  await start();
  await makeRoutes();
});
afterAll(async () => {
  await agent?.close();
  await gateway?.close();
  upstream?.close();
  await issuer?.close();
  guests?.close();
  await place?.remove();
});

async function start() {
  gateway = await startTestGateway({}, { place });
  authtoken ??= (await newCredential(gateway)).authtoken;
  agent = connectAgent(gateway, authtoken, upstream.address);
  const internal = (name: string) =>
    agent.tunnel('https', `${name}.internal`, {
      on_http_request: [{ actions: [{ type: 'custom-response', config: { body: `this is ${name}` } }] }],
    });
  await Promise.all([agent.labelled(LABELS), internal('one'), internal('two')]);
}

async function makeRoutes() {
  const key = await keyPair();
  issuer = await startIssuer([key]);
  const now = Math.floor(Date.now() / 1000);
  const token = await signed(key, { iss: issuer.url, iat: now - 10, exp: now + 3600 });
  guests = await startAskedServer((request, ...rest) =>
    says(request.target === '/ann' ? 200 : 404, `welcome ${request.target}`)(request, ...rest),
  );
  cases = actionCases({ issuer: { jwks: issuer.jwks, url: issuer.url, token }, guests: guests.url });
  await reserve(gateway, HOST);
  const { body: edge } = await gateway.call('POST', '/edges/https', { hostports: [`${HOST}:443`] });
  const { body: backend } = await gateway.call('POST', '/backends/tunnel_group', { labels: LABELS });
  for (const { type } of cases) {
    const settings = { match_type: 'path_prefix', match: `/${type}`, backend: { backend_id: backend.id } };
    const { status, body, text } = await gateway.call('POST', `/edges/https/${edge.id}/routes`, settings);
    expect(status, text).toBe(201);
    routes.set(type, `/edges/https/${edge.id}/routes/${body.id}/traffic_policy`);
  }
}

async function set(type: string, policy: object, enabled = true) {
  const { status, text } = await gateway.call('PUT', routes.get(type) as string, {
    enabled,
    value: JSON.stringify(policy),
  });
  expect(status, text).toBe(200);
}

function stageOf(type: string): Stage {
  upstream.asked = [];
  upstream.origin = {};
  const go: Stage['go'] = (options) => visitOf(gateway, `https://${HOST}/${type}`, options);
  return { gateway, host: HOST, upstream, go };
}

/** As without a policy. */
async function isPlain(type: string) {
  const { go } = stageOf(type);
  const seen = await go({ headers: { 'accept-encoding': 'gzip', 'x-one': '1' } });
  expect(seen).toMatchObject({ status: 200, body: ORIGIN.body, headers: ORIGIN.headers });
  expect(seen?.headers).not.toHaveProperty('content-encoding');
  expect(upstream.asked).toMatchObject([{ target: `/${type}`, headers: { 'x-one': '1' } }]);
  expect(upstream.asked[0]?.headers).not.toHaveProperty('x-added');
}

const types = actionKinds.map(({ type }) => type).filter((type) => type !== 'terminate-tls');
const caseOf = (type: string) => cases.find((each) => each.type === type) as ActionCase;

const some = new Set(shortened([['add-headers', 'deny', 'rate-limit'], types]).flat());

describe('at once:', () => {
  test.each(types)('%s', async (type) => {
    const { on, changed } = caseOf(type);
    if (some.has(type)) await isPlain(type);
    await set(type, on.policy);
    await on.shows(stageOf(type));
    await set(type, changed.policy);
    await changed.shows(stageOf(type));
  });
});

describe('not any more when it is off:', () => {
  test.each([...some])('%s', async (type) => {
    const { changed } = caseOf(type);
    await set(type, changed.policy, false);
    await isPlain(type);
    await set(type, {});
    await isPlain(type);
    await set(type, changed.policy);
  });
});

// That stored policies are there after a restart, modules/restart.test.ts shows of a few.
for (const restarted of shortened([types], 0))
  describe('again after a restart:', () => {
    beforeAll(async () => {
      await agent.close();
      await gateway.close();
      await start();
    });

    test.each(restarted)('%s', async (type) => {
      await caseOf(type).changed.shows(stageOf(type));
    });
  });
