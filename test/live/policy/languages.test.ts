// How policies may be written: in YAML or JSON, by the names of today or of 2024, with templates in their texts. Visits over
// plain HTTP and over HTTPS.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { newRoute, type PolicyLab, startPolicyLab } from './lab.ts';

let lab: PolicyLab;
let route: string;
const HOST = 'languages.tunnel.localhost';
const EDGE = 'languages-edge.tunnel.localhost';
beforeAll(async () => {
  lab = await startPolicyLab();
  await lab.labelled({ app: 'languages' });
  route = await newRoute(lab, EDGE, { app: 'languages' });
});
afterAll(() => lab?.close());
beforeEach(() => {
  lab.upstream.asked = [];
  lab.upstream.origin = {};
});

const today = `
# Who is who, and what is added for whom.
on_http_request:
  - name: a folded text
    actions:
      - type: basic-auth
        config:
          realm: Lamps
          credentials: &those ["ann:a long password", "bob:another password"]
  - expressions:
      - actions.basic_auth.credentials.authorized
      - "!(req.method in ['PUT', 'DELETE'])"
    actions:
      - type: set-vars
        config:
          vars:
            - who: \${actions.basic_auth.credentials.username}
            - greeting: >-
                Hello \${vars.who.upperAscii()},
                you come from \${conn.client_ip}
      - type: add-headers
        config:
          headers:
            x-user: \${vars.who}
            x-greeting: \${vars.greeting}
            x-sum: \${1 + 2} and \${size(req.url.path)}
on_http_response:
  - expressions: ["res.status_code == 200 && actions.basic_auth.credentials.username == 'ann'"]
    actions:
      - type: add-headers
        config: { headers: { x-for: "\${actions.basic_auth.credentials.username}" } }
`;

/** The same for all but the names. */
const of2024 = today
  .replace('on_http_request:', 'inbound:')
  .replace('on_http_response:', 'outbound:')
  .replace('req.method', 'req.Method')
  .replace('res.status_code == 200', "res.StatusCode == '200'")
  .replace('conn.client_ip', 'conn.ClientIP')
  .replace('req.url.path', 'req.Path');

const inJson = (yaml: string) => JSON.stringify(parse(yaml));

const writings = [
  ['YAML by the names of today', today],
  ['JSON by the names of today', inJson(today)],
  ['YAML by the names of 2024', of2024],
  ['JSON by the names of 2024', inJson(of2024)],
] as const;

const as = (pair: string) => ({ headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } });

/** What all of these writings do. */
async function acts(url: string) {
  expect(await lab.visit(url)).toMatchObject({
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="Lamps", charset="UTF-8"' },
  });
  expect(lab.upstream.asked).toEqual([]);
  expect(await lab.visit(url, as('ann:a long password'))).toMatchObject({ status: 200, headers: { 'x-for': 'ann' } });
  const bob = await lab.visit(url, as('bob:another password'));
  expect(bob?.headers).not.toHaveProperty('x-for');
  expect(await lab.visit(url, { method: 'PUT', ...as('bob:another password') })).toMatchObject({ status: 200 });
  expect(lab.upstream.asked).toMatchObject([
    { headers: { 'x-user': 'ann', 'x-greeting': 'Hello ANN, you come from 127.0.0.1', 'x-sum': '3 and 5' } },
    { headers: { 'x-user': 'bob', 'x-greeting': 'Hello BOB, you come from 127.0.0.1' } },
    { method: 'PUT' },
  ]);
  expect(lab.upstream.asked[2]?.headers).not.toHaveProperty('x-user');
}

describe.each(writings)('written in %s,', (_, policy) => {
  test('a policy acts on a tunnel for HTTP', async () => {
    const tunnel = await lab.tunnel('http', HOST, policy);
    await acts(`http://${HOST}/path`);
    await tunnel.close();
  });

  test('a policy acts on the route of an edge, and is shown as it was sent, but for its passwords', async () => {
    const shown = policy.replace(/a long password|another password/g, '<secret>');
    const { status, body } = await lab.account.call('PUT', `${route}/traffic_policy`, { value: policy });
    expect([status, body]).toEqual([200, { enabled: true, value: shown }]);
    await acts(`https://${EDGE}/path`);
    expect((await lab.account.call('GET', `${route}/traffic_policy`)).body.value).toBe(shown);
  });
});

test('what a visitor sends cannot be read as a template, nor as a line of its own', async () => {
  const tunnel = await lab.tunnel('http', HOST, {
    on_http_request: [
      { actions: [{ type: 'add-headers', config: { headers: { 'x-copy': "${req.headers['x-a'][0]}" } } }] },
      {
        expressions: ["req.url.path == '/own'"],
        actions: [{ type: 'custom-response', config: { body: "${getQueryParam('q')[0]}" } }],
      },
    ],
  });
  const headers = { 'x-a': '${req.method}' };
  await lab.visit(`http://${HOST}/`, { headers });
  expect(lab.upstream.asked[0]?.headers).toMatchObject({ 'x-copy': '${req.method}' });
  const own = await lab.visit(`http://${HOST}/own?q=%24%7Breq.method%7D`, { headers });
  expect(own?.body).toBe('${req.method}');
  await tunnel.close();
});
