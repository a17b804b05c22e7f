// URLs of webhooks that try to lead elsewhere than the operator allows: the API refuses them, however they are written.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startTestGateway({
    EVENT_WEBHOOK_HOSTS: 'hooks.example.com,*.allowed.example.com,xn--bcher-kva.example,localhost',
  });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

const create = (target: object) => account.call('POST', '/event_destinations', { target });
const hook = (url: string) => ({ webhook: { url, signing_secret: 'not-shorter-than-16-bytes' } });
const words = (text: string) => text.trim().split(/\s+/);

const refused = [
  ...words(`
    https://evil.example/ https://example.com/ https://allowed.example.com/ https://localhost.evil.org/
    https://hooks.example.com.evil.org/ https://evilhooks.example.com/ https://hooks.example.comevil.org/
  `),
  // What comes before an @ is not a host, and what comes behind a # or a ? is not one either.
  ...words(`
    https://hooks.example.com@evil.org/ https://hooks.example.com:443@evil.org/ https://evil.org#@hooks.example.com/
    https://evil.org?@hooks.example.com/ https://evil.org\\@hooks.example.com/ https://evil.org%2f@hooks.example.com
    https://user@hooks.example.com/ https://user:word@hooks.example.com/ https://:word@hooks.example.com/
  `),
  // Addresses in every notation.
  ...words(`
    https://127.0.0.1/ https://2130706433/ https://0x7f000001/ https://0x7f.0.0.1/ https://0177.0.0.1/
    https://017700000001/ https://127.1/ https://127.0.1/ https://127.0.0.1./ https://0/ https://0.0.0.0/
    https://[::1]/ https://[::]/ https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[0:0:0:0:0:0:0:1]/
    https://[::127.0.0.1]/ https://[64:ff9b::7f00:1]/ https://[fe80::1]/ https://[fd00::1]/ https://10.0.0.1/
    https://169.254.169.254/latest/meta-data/ https://2852039166/ https://[fd00:ec2::254]/ https://1.1.1.1/
  `),
  // Digits and letters that are only written otherwise.
  ...words(`
    https://１２７.0.0.1/ https://①②⑦.⓪.⓪.①/ https://127。0。0。1/ https://%31%32%37.0.0.1/
  `),
  // A full stop at the end makes another name of it, for rules and for certificates.
  ...words(`
    https://hooks.example.com./ https://localhost./ https://a.allowed.example.com./ https://hooks.ехample.com/
    https://xn--hooks-.example.com/ https://b%C3%BCcher.evil/ https://hooks.example.com%00.evil.org/
  `),
  // What is no URL of HTTPS, and hosts that are none.
  ...words(`
    http://hooks.example.com/ http://localhost/ HTTP://HOOKS.EXAMPLE.COM/ ftp://hooks.example.com/
    file:///etc/passwd unix:/var/run/docker.sock javascript:1 data:,x gopher://hooks.example.com/
    //hooks.example.com/ hooks.example.com https:// https:/// https://*.allowed.example.com/
    https://.allowed.example.com/ https://hooks.example.com:99999/ https://hooks.example.com:-1/
    https://[hooks.example.com]/
  `),
  ' ',
];

test.each(refused)('%s is refused', async (url) => {
  expect(await create(hook(url))).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_90071' } });
});

test.each([
  'https://hooks.example.com/',
  'https://HOOKS.Example.COM/x?y#z',
  'https://hooks.example.com:8443/',
  'https://a.b.allowed.example.com/',
  'https://bücher.example/',
  'https://xn--bcher-kva.example/',
])('%s is allowed', async (url) => {
  expect(await create(hook(url))).toMatchObject({ status: 201 });
});

test('an update is checked as a creation is, and leaves what was there', async () => {
  const { body } = await create(hook('https://hooks.example.com/'));
  for (const target of [
    hook('https://127.0.0.1/'),
    hook('https://hooks.example.com./'),
    { datadog: { ddsite: 'evil.org' } },
  ])
    expect(await account.call('PATCH', `/event_destinations/${body.id}`, { target })).toMatchObject({ status: 400 });
  expect((await account.call('GET', `/event_destinations/${body.id}`)).body.target.webhook.url).toBe(
    'https://hooks.example.com/',
  );
});

test('a secret does not go along to another host', async () => {
  const { body } = await create(hook('https://hooks.example.com/'));
  for (const url of [
    'https://a.allowed.example.com/',
    'https://hooks.example.com:8443/',
    'https://hooks.example.com/x',
  ])
    expect(
      await account.call('PATCH', `/event_destinations/${body.id}`, { target: { webhook: { url } } }),
    ).toMatchObject({
      status: 400,
      body: { error_code: 'ERR_GATEWAY_90066' },
    });
});
