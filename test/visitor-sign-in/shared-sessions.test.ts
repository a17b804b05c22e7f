// Sessions that are valid at all hosts of a domain: only where all its names are the account's, and for the client that has made them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, expect, test } from 'vitest';
import { newEdge, newName, newRoute } from '../live/edges/support.ts';
import { reserve } from '../support/agents/live.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import { CLIENT } from './provider.ts';
import { echoOf, errorOf, type Stage, setStage } from './support.ts';

const asData = { headers: { 'sec-fetch-dest': 'empty' } };

let gateway: TestGateway;
let stage: Stage;

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  stage = await setStage(gateway);
});
afterAll(() => stage.close());

/** A domain below which the account has names, reserved by these names. */
async function newDomain(...reserved: ((domain: string) => string)[]): Promise<string> {
  const domain = newName('shared');
  for (const name of reserved) await reserve(gateway, name(domain));
  return domain;
}
const itself = (domain: string) => domain;
const shared = (domain: string, more: object = {}) => ({ auth_cookie_domain: domain, ...more });

test.each([
  ['reserved', itself],
  ['reserved with a wildcard', (domain: string) => `*.${domain}`],
])('a session is valid at all hosts of a domain that is %s, until it is no more', async (_, reserved) => {
  const domain = await newDomain(reserved);
  const [one, other] = [`one.${domain}`, `two.${domain}`];
  const { page, browser } = await stage.signIn(`${await stage.serveAt(one, shared(domain))}/page`);
  expect(page.status).toBe(200);
  const origin = await stage.serveAt(other, shared(domain));
  browser.share(one, other);
  expect((await browser.open(`${origin}/`, asData)).status).toBe(200);
  const { reserved_domains: all } = (await gateway.call('GET', '/reserved_domains')).body;
  const { id } = all.find((row: { domain: string }) => row.domain === reserved(domain));
  expect((await gateway.call('DELETE', `/reserved_domains/${id}`)).status).toBe(204);
  const late = await stage.serveAt(`three.${domain}`, shared(domain));
  expect(errorOf(await stage.browser().open(`${late}/`))).toBe('ERR_GATEWAY_2243');
});

test('of a domain that is only bound, or that another account has reserved, no cookie is set', async () => {
  const [bound, theirs] = [newName('shared'), newName('shared')];
  const origins = [
    await stage.serveAt(bound, shared(bound)),
    await stage.serveAt(`below.${bound}`, shared(bound)),
    await stage.serveAt(`before.${theirs}`, shared(theirs)),
  ];
  // The name was bound before; a reservation does not take it away.
  await gateway.app.prisma.reservedDomain.updateMany({
    where: { id: await reserve(gateway, newName('shared')) },
    data: { domain: theirs, accountId: (await gateway.newAccount()).accountId },
  });
  for (const origin of origins) {
    const page = await stage.browser().open(`${origin}/`);
    expect([page.status, errorOf(page)]).toEqual([500, 'ERR_GATEWAY_2243']);
    expect(page.headers['set-cookie']).toBeUndefined();
  }
});

test('a policy of a route with such a domain is refused when it is set', async () => {
  const edge = await newEdge(gateway);
  const at = `${await newRoute(gateway, edge, { match: '/' })}/traffic_policy`;
  const put = (domain: string) => {
    const config = { issuer_url: stage.provider.issuer, ...CLIENT, auth_cookie_domain: domain };
    const value = JSON.stringify({ on_http_request: [{ actions: [{ type: 'openid-connect', config }] }] });
    return gateway.call('PUT', at, { value });
  };
  const refused = await put(newName('shared'));
  expect([refused.status, refused.body.error_code]).toEqual([400, 'ERR_GATEWAY_2241']);
  expect(refused.body.msg).toMatch(/auth_cookie_domain must be a reserved domain of this account, or below one/);
  expect((await put(`below.${await newDomain(itself)}`)).status).toBe(200);
});

test('who knows the client but not its secret reads nothing of a session, also not of one that was just found', async () => {
  const domain = await newDomain(itself);
  const [one, other, right] = [`one.${domain}`, `two.${domain}`, `three.${domain}`];
  const { browser } = await stage.signIn(`${await stage.serveAt(one, shared(domain))}/`);
  const introduce = {
    actions: [{ type: 'set-headers', config: { headers: { 'x-token': '${actions.oidc.access_token}' } } }],
  };
  const spying = {
    type: 'openid-connect',
    config: { issuer_url: stage.provider.issuer, ...CLIENT, client_secret: 'a guess', ...shared(domain) },
  };
  const origin = await stage.servePolicy({ on_http_request: [{ actions: [spying] }, introduce] }, other);
  const honest = await stage.serveAt(right, shared(domain));
  for (const host of [other, right]) browser.share(one, host);
  expect((await browser.open(`${honest}/`, asData)).status).toBe(200);
  const page = await browser.open(`${origin}/`, asData);
  expect([page.status, errorOf(page)]).toEqual([401, 'ERR_GATEWAY_90400']);
  expect(echoOf(await browser.open(`${honest}/`, asData)).url).toBe('/');
});
