// Failed sign-ins count at all gateways: whoever guesses passwords gains nothing by going from one to the next.

import { expect, onTestFinished, test } from 'vitest';
import { newBrowser, operations, refusal } from '../sign-in/browser.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { startCluster } from './support.ts';

const WRONG = 'FORBIDDEN ERR_GATEWAY_90205';
const TOO_EARLY = 'RATE_LIMITED ERR_GATEWAY_90206';

test.runIf(onServer)('who has failed at one gateway waits at the others, too', async () => {
  const cluster = await startCluster(2, { LIMIT_SHARE_MS: '10' });
  onTestFinished(() => cluster.close());
  const [one, other] = cluster.gateways as [TestGateway, TestGateway];
  const guess = async (gateway: TestGateway, email: string) => {
    const variables = { input: { email, password: 'not the right password' } };
    return refusal(await newBrowser(gateway.api).post({ query: operations.signIn, variables }));
  };
  for (let i = 0; i < 5; i++) expect(await guess(one, `user-${i}@localhost`)).toBe(WRONG);
  // The fifth failure asks for a second, and each further one for twice as long. By itself, this gateway would let five fail.
  const answers: string[] = [];
  while (answers.at(-1) !== TOO_EARLY && answers.length < 4) answers.push(await guess(other, 'user-5@localhost'));
  expect(answers.at(-1)).toBe(TOO_EARLY);
  // Places that are not concerned do not wait.
  expect(await other.app.signIn.attempts.run(null, '198.18.0.1', async () => 'in')).toBe('in');
});
