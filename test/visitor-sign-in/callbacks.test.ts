// Where providers send visitors back to: no account is given what is meant for another one (mix-up, RFC 9700, section 4.4), nor can it
// be the application of another one.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackPath } from '../../src/visitor-sign-in/callback-address.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { errorOf, logIn, type Stage, setStage } from './support.ts';

const SHARED = '/oauth2/callback';
/** Policies take none that is empty as it stands; modules do. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: templates of policies look like that
const NO_SECRET = "${''}";

let gateway: TestGateway;
let victim: Account;
let attacker: Account;
/** Of two accounts: the provider is the victim's. */
let stage: Stage;
let foreign: Stage;
let issuer: Awaited<ReturnType<typeof startIssuer>>;

beforeAll(async () => {
  gateway = await sharedGateway();
  [victim, attacker] = [await gateway.newAccount(), await gateway.newAccount()];
  stage = await setStage({ ...gateway, ...victim });
  foreign = await setStage({ ...gateway, ...attacker }, { provider: stage.provider, registers: false });
  issuer = await startIssuer(stage.provider.issuer);
});
afterAll(async () => {
  await issuer.close();
  await foreign.close();
  await stage.close();
});

/** An issuer of the attacker, whose document names the provider's page, and a token endpoint of its own. */
async function startIssuer(provider: string) {
  const asked: string[] = [];
  const more: Record<string, unknown> = {};
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method === 'POST') asked.push(body);
    const url = `http://${request.headers.host}`;
    const document = {
      ...{
        issuer: url,
        authorization_endpoint: `${provider}/auth`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/jwks`,
      },
      ...more,
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What its token endpoint was sent. */
    asked,
    more,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Where a log-in at an origin sends the visitor, and with what. */
async function askedAt(origin: string) {
  const page = await stage.browser().open(`${origin}/`, { follows: false });
  return Object.fromEntries(new URL(page.headers.location ?? '').searchParams);
}

test('an issuer that names the page of another account\u2019s provider is not given its answers', async () => {
  const { redirect_uri = '' } = await askedAt(await stage.serve());
  stage.provider.register(redirect_uri);
  const trap = await foreign.serve({ issuer_url: issuer.url, client_secret: 'guessed' });
  const browser = stage.browser();
  const first = await browser.open(`${trap}/`);
  if (first.status === 200) {
    // What a provider without RFC 9207 answers.
    const until = (url: string) => url.startsWith(gateway.api);
    const answer = new URL((await logIn(browser, first, 'ann', { until })).headers.location ?? '');
    answer.searchParams.delete('iss');
    await browser.open(answer.href);
  }
  expect(issuer.asked).toEqual([]);
  expect([first.status, first.body]).toEqual([400, expect.stringContaining('redirect_uri')]);
});

test('who knows the client of another account, which is no secret, is not its application', async () => {
  const posing = await foreign.serve({ client_secret: NO_SECRET });
  const page = await stage.browser().open(`${posing}/`);
  expect([page.status, page.body]).toEqual([400, expect.stringContaining('redirect_uri')]);
});

test('each account and issuer has an address of its own, which the API tells', async () => {
  const ask = async (account: Account, of: string) =>
    (await account.graphql('query ($of: String!) { signInCallback(issuer: $of) { issuer url sharedUrl } }', { of }))
      .body.data.signInCallback;
  const told = await ask(victim, stage.provider.issuer);
  const { redirect_uri } = await askedAt(await stage.serve());
  expect(told).toEqual({ issuer: stage.provider.issuer, url: redirect_uri, sharedUrl: null });
  expect(redirect_uri).toMatch(/\/oauth2\/callback\/[\w-]{22}$/);
  const urls = [told, await ask(victim, 'github'), await ask(attacker, 'github'), await ask(attacker, told.issuer)];
  expect(new Set(urls.map(({ url }) => url)).size).toBe(4);
});

describe('an answer that comes to another callback is refused:', () => {
  test.each<[string, () => string]>([
    ['that of another account', () => callbackPath(attacker.accountId, stage.provider.issuer)],
    ['that of another issuer', () => callbackPath(victim.accountId, 'github')],
    ['the one that all shared', () => SHARED],
    ['none', () => `${SHARED}/AAAAAAAAAAAAAAAAAAAAAA`],
    ['a longer one', () => `${callbackPath(victim.accountId, stage.provider.issuer)}/a`],
  ])('%s', async (_, path) => {
    const { state = '' } = await askedAt(await stage.serve());
    const page = await stage.browser().open(`${gateway.api}${path()}?${new URLSearchParams({ code: 'c', state })}`);
    expect([page.status, errorOf(page)]).toEqual([400, 'ERR_GATEWAY_5200']);
  });
});

describe('where visitors had signed in before the upgrade', () => {
  const of = (accountId: string) => ({ accountId, issuer: stage.provider.issuer });

  test('they still come back by the shared address, until an admin ends that', async () => {
    const { prisma } = gateway.app;
    await prisma.sharedCallback.create({ data: of(victim.accountId) });
    const own = gateway.api + callbackPath(victim.accountId, stage.provider.issuer);
    stage.provider.register(gateway.api + SHARED);
    const origin = await stage.serve();
    const before = await askedAt(origin);
    expect(before.redirect_uri).toBe(gateway.api + SHARED);
    expect((await stage.signIn(`${origin}/page`)).page.url).toBe(`${origin}/page`);
    const listed = async () => {
      const { body } = await victim.graphql('{ sharedSignInCallbacks { issuer url sharedUrl } }');
      return body.data.sharedSignInCallbacks;
    };
    expect(await listed()).toEqual([{ issuer: stage.provider.issuer, url: own, sharedUrl: gateway.api + SHARED }]);
    // Nobody else's answers come that way, nor this one's to the other address.
    const { state: theirs = '' } = await askedAt(await foreign.serve());
    const come = async (path: string, state = '') =>
      errorOf(await stage.browser().open(`${path}?${new URLSearchParams({ code: 'c', state })}`));
    expect(await come(gateway.api + SHARED, theirs)).toBe('ERR_GATEWAY_5200');
    expect(await come(own, before.state)).toBe('ERR_GATEWAY_5200');

    const end = () =>
      victim.graphql(
        'mutation ($of: String!) { endSharedSignInCallback(issuer: $of) { signInCallback { url sharedUrl } } }',
        {
          of: stage.provider.issuer,
        },
      );
    expect((await end()).body.data.endSharedSignInCallback.signInCallback).toEqual({ url: own, sharedUrl: null });
    expect((await end()).body.errors[0].extensions.code).toBe('NOT_FOUND');
    expect(await listed()).toEqual([]);
    expect(await come(gateway.api + SHARED, before.state)).toBe('ERR_GATEWAY_5200');
    expect((await askedAt(origin)).redirect_uri).toBe(own);
    expect((await stage.signIn(`${origin}/page`)).page.url).toBe(`${origin}/page`);
  });

  test('the upgrade notes their accounts and issuers', async () => {
    await stage.signIn(`${await stage.serve()}/`);
    const migration = await readFile('prisma/migrations/20261127181500_callback_per_issuer/migration.sql', 'utf8');
    const insert = /^INSERT[^;]*;/m.exec(migration)?.[0] ?? '';
    const undone = new Error('undone');
    const rows: object[] = [];
    const run = gateway.app.prisma.$transaction(async (tx) => {
      await tx.$executeRawUnsafe(insert);
      const accountId = { in: [victim.accountId, attacker.accountId] };
      rows.push(...(await tx.sharedCallback.findMany({ where: { accountId } })));
      throw undone;
    });
    await expect(run).rejects.toBe(undone);
    expect(rows).toEqual([of(victim.accountId)]);
  });
});
