// The list of endpoints while they come and go.

import { beforeAll, expect, test } from 'vitest';
import { bound, nameRequest, newCredential, openSession } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

const ROUNDS = 15;
const AT_ONCE = 10;
/** What the dashboard shows of each. */
const DETAILS = `{ endpoints { nodes { id forwardsTo agents legs { nodeId } principal { id } roundTrip { at } traffic { requests }
    tunnelSession { id userAgent mayCommand credential { id } roundTrip { at } tunnels { publicUrl forwardsTo } } } } }`;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

test('it is answered each time, with endpoints whose agents leave while it is read', async () => {
  const credential = await newCredential(account);
  let isOver = false;
  const statuses = new Set<number>();
  const errors = new Set<string>();
  const reading = (async () => {
    while (!isOver) {
      statuses.add((await account.call('GET', '/endpoints')).status);
      const { body } = await account.graphql(DETAILS);
      for (const { message, path } of body.errors ?? []) errors.add(`${message} ${path.join('.')}`);
    }
  })();
  for (let round = 0; round < ROUNDS; round++) {
    const visits = Array.from({ length: AT_ONCE }, async (_, i) => {
      const session = await openSession(gateway, credential);
      bound(await gateway.registrar.bind(nameRequest(session, `r${round}-${i}.tunnel.localhost`)));
      await gateway.registrar.sessionClosed(session, 0);
    });
    await Promise.all(visits);
  }
  isOver = true;
  await reading;
  expect(statuses).toEqual(new Set([200]));
  expect(errors).toEqual(new Set());
});
