// Ports for listeners whose number is chosen before they listen.

import { expect, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';

/** Of some 14,000 that the system chooses from: chosen by chance alone, some would come twice. */
const PORTS = 500;

test.each(['127.0.0.1', '0.0.0.0'])('a port that was chosen at %s is not chosen again soon', async (host) => {
  const ports = new Set<number>();
  for (let i = 0; i < PORTS; i++) ports.add(await freePort(host));
  expect(ports.size).toBe(PORTS);
});
