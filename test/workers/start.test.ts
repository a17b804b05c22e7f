// A start with workers that cannot succeed: it says why, and nothing is left of it.

import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { newPlace } from '../support/gateway/place.ts';
import { runRefused } from '../support/gateway/process.ts';

test.each([
  ['a port of the workers', 'HTTP_PORT'],
  ['a port of the control process', 'API_PORT'],
])('when another program has %s, the whole start ends, and says which port it is', async (_, variable) => {
  const other = createServer();
  onTestFinished(() => void other.close());
  const port = await listen(other);
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const { code, stderr } = await runRefused({
    ...place.env,
    WORKERS: '2',
    LOG_LEVEL: 'error',
    [variable]: String(port),
  });
  expect(code).toBe(1);
  // Each process that needs the port may say it; there is nothing else to say.
  expect(new Set(stderr.split('\n'))).toEqual(
    new Set([
      expect.stringMatching(new RegExp(`EADDRINUSE.*:${port}: another process has this port; set .*${variable}`)),
    ]),
  );
});
