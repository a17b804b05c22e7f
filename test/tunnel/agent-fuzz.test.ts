// Calls and frames at random against the real listener: no byte of an agent ends more than its session.

import { expect, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { hostileFrames, seeded } from '../soak/hostile/agent-random.ts';
import { newCredential } from '../support/agents/live.ts';
import { rawAgent } from '../support/agents/raw-agent.ts';
import { sharedGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

/** `SOAK=1 npm test -- test/tunnel/agent-fuzz` is the long round. */
const ROUNDS = process.env.SOAK ? 2000 : 16;
const FRAMES = 60;
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_122);

test('whatever an agent says before and after it is let in, others are served, and nothing unexpected is met', {
  timeout: 600_000,
}, async () => {
  const gateway = await sharedGateway();
  const own = await newCredential(await gateway.newAccount());
  const bystander = await rawAgent(gateway);
  await bystander.auth((await newCredential(await gateway.newAccount())).authtoken);
  const before = gateway.logs.length;
  for (let round = 0; round < ROUNDS; round++) {
    const random = seeded(SEED + round);
    const frames = Buffer.concat(hostileFrames(random, FRAMES));
    const hostile = await rawAgent(gateway);
    if (round % 4 > 0) await hostile.auth(own.authtoken);
    hostile.socket.write(frames);
    // The answer to one more call, or the end of the session, comes after all that was sent is read.
    await Promise.race([hostile.call(StreamType.SERVER_INFO, {}).catch(() => {}), hostile.closed]);
    if (random() < 0.5) hostile.socket.destroy();
    else hostile.socket.end();
  }
  const name = `fuzz-${SEED}.tunnel.localhost`;
  const bound = await bystander.bind(name);
  expect(bound.Error).toBe('');
  expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: bound.Id });
  expect(gateway.logs.slice(before).filter((line) => line.includes('unexpected'))).toEqual([]);
  expect(gateway.fatal).toEqual([]);
});
