// Shortened; `npm run soak -- crash` has the full count.

import { expect, test } from 'vitest';
import { crash } from '../support/crash.ts';
import { startProcess } from '../support/process.ts';

test('nothing acknowledged is lost when the gateway is killed three times during writes', {
  timeout: 60_000,
}, async () => {
  expect(await crash(3)).toBeGreaterThan(60);
});

test('a request with an idempotency key gets the same answer after the gateway was killed', {
  timeout: 60_000,
}, async () => {
  const options = { headers: { 'idempotency-key': 'across a crash' } };
  const before = await startProcess({
    INITIAL_API_KEY: 'key-of-the-crash-tests',
    PUBLIC_API_URL: 'http://api.example',
  });
  try {
    const first = await before.call('POST', '/credentials', { description: 'once' }, options);
    expect(first).toMatchObject({ status: 201, body: { token: expect.any(String) } });
    await before.kill('SIGKILL');
    const after = await before.restart();
    try {
      expect((await after.call('POST', '/credentials', { description: 'once' }, options)).text).toBe(first.text);
      expect((await after.call('POST', '/credentials', { description: 'twice' }, options)).status).toBe(409);
      const { body } = await after.call('GET', '/credentials');
      expect(
        body.credentials.filter(({ description }: { description: string }) => description === 'once'),
      ).toHaveLength(1);
    } finally {
      await after.kill();
    }
  } finally {
    await before.kill();
    await before.place.remove();
  }
});
