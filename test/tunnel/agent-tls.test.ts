import { once } from 'node:events';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { sharedGateway } from '../support/gateway/gateway.ts';

test.each([
  ['ECDHE-ECDSA-AES128-GCM-SHA256', true],
  ['ECDHE-ECDSA-AES128-SHA256', false],
  ['ECDHE-ECDSA-AES128-CCM8', false],
])('of TLS 1.2, agents are spoken to with %s: %s', async (ciphers, isSpoken) => {
  const { agent, ca } = await sharedGateway();
  const [host, port] = agent.split(':');
  const socket = connect({ host, port: Number(port), ca, ciphers: `${ciphers}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' });
  const agreed = await once(socket, 'secureConnect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  expect(agreed).toBe(isSpoken);
});
