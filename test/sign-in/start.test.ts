// What a start prints for the browser.

import { expect, test } from 'vitest';
import { onServer, startTestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';
import { isLong } from '../support/shortened.ts';
import { newBrowser, operations, PASSWORD, refusal } from './browser.ts';

const printed = ({ stdout }: GatewayProcess) => stdout.filter((line) => line.startsWith('Dashboard: ')).join();

/** Redeems a link, as a page of the gateway's own would. */
const redeem = ({ call }: GatewayProcess, token: string) =>
  call(
    'POST',
    '/graphql',
    { query: operations.redeem, variables: { input: { token, password: PASSWORD } } },
    { key: null, headers: { 'gateway-dashboard': '1', 'sec-fetch-site': 'same-origin' } },
  );

test('of the links of several starts the newest works, until an admin has a password', async () => {
  const place = await newPlace();
  const open = async () => startTestGateway({}, { place });
  const first = await open();
  const older = first.signInToken;
  await first.close();
  const second = await open();
  const links = [older, second.signInToken].map((token) => token ?? expect.unreachable());
  expect(links[0]).not.toBe(links[1]);
  const answers: (string | undefined)[] = [];
  for (const token of links) {
    const answer = await newBrowser(second.api).post({
      query: operations.redeem,
      variables: { input: { token, password: PASSWORD } },
    });
    answers.push(refusal(answer));
  }
  expect(answers).toEqual([expect.stringContaining('ERR_GATEWAY_90207'), undefined]);
  await second.close();
  const third = await open();
  expect(third.signInToken).toBeNull();
  await third.close();
  await place.remove();
});

// What a process prints, test/ops/idle-process.test.ts reads in `npm test`.
test.skipIf(onServer || !isLong)(
  'every start prints a link, of which the newest works, until an admin has a password; no log has it',
  { timeout: 90_000 },
  async () => {
    const place = await newPlace();
    let gateway = await startProcess({ LOG_LEVEL: 'trace' }, place);
    const logs: string[] = [];
    const tokens: string[] = [];
    const end = async () => {
      expect(await gateway.kill('SIGTERM')).toBe(0);
      logs.push(...gateway.stderr);
    };
    const again = async (env: Record<string, string> = {}) => {
      await end();
      gateway = await gateway.restart(env);
    };
    try {
      for (let start = 1; start <= 2; start++) {
        const [, base, token = ''] = /^Dashboard: (.*)\/dashboard\/sign-in#([\w-]{43})$/.exec(printed(gateway)) ?? [];
        expect(base).toBe(gateway.api);
        expect(gateway.stdout.at(-1)).toBe(printed(gateway));
        tokens.push(token);
        if (start === 1) await again();
      }
      const [older = '', newer = ''] = tokens;
      expect((await redeem(gateway, older)).body.errors[0].extensions.errorCode).toBe('ERR_GATEWAY_90207');
      expect((await redeem(gateway, newer)).body.data.redeemSignInLink.viewer.isAdmin).toBe(true);
      await again({ PUBLIC_API_URL: 'https://gateway.example' });
      expect(printed(gateway)).toBe('Dashboard: https://gateway.example/dashboard/');
      await end();
      expect(logs.length).toBeGreaterThan(3);
      for (const secret of [...tokens, PASSWORD]) expect(logs.filter((line) => line.includes(secret))).toEqual([]);
    } finally {
      await gateway.kill();
      await place.remove();
    }
  },
);
