// A change of the server key: the secrets of apps are sealed with it.

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { newPlace } from '../support/gateway/place.ts';
import { turnOnSecondFactor } from './authenticator.ts';
import { newBrowser, PASSWORD, refusal, signedIn, startWithDashboard } from './browser.ts';

test('apps and recovery codes outlive a change of the server key', { timeout: 90_000 }, async () => {
  const place = await newPlace();
  let time = Date.now();
  const now = () => time;
  let gateway = await startWithDashboard({}, { place, now });
  const again = async (env: Record<string, string>) => {
    await gateway.close();
    gateway = await startWithDashboard(env, { place, now });
    time += 60_000;
  };
  const signIn = (code?: string) => newBrowser(gateway.api).signIn('admin@localhost', PASSWORD, code);
  try {
    const browser = await signedIn(gateway, gateway.key, gateway.ownerId);
    const { codeAt, recoveryCodes } = await turnOnSecondFactor(browser, now);
    const key = Buffer.alloc(32, 7).toString('base64');
    const previous = (await readFile(`${place.dataDir}/server.key`, 'utf8')).trim();
    await again({ SERVER_KEY: key, SERVER_KEY_PREVIOUS: previous });
    expect((await signIn(codeAt(0))).body.errors).toBeUndefined();
    await again({ SERVER_KEY: key });
    expect(refusal(await signIn())).toBe('FORBIDDEN ERR_GATEWAY_90226');
    expect((await signIn(codeAt(0))).body.errors).toBeUndefined();
    expect((await signIn(recoveryCodes[0])).body.errors).toBeUndefined();
  } finally {
    await gateway.close();
    await place.remove();
  }
});
