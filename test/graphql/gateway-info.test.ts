// What a new agent has to be told: enough that it connects.

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { agentAddress } from '../../src/api/resources/overview/agent-address.ts';
import { sharedGateway } from '../support/gateway/gateway.ts';

const QUERY = '{ gatewayInfo { agentAddress caFile caCertificate version obtainsCertificates } }';

test('who asks on the same machine is told where agents connect, and the file with the certificate to trust', async () => {
  const gateway = await sharedGateway();
  const { gatewayInfo } = (await gateway.graphql(QUERY)).body.data;
  expect(gatewayInfo).toMatchObject({ agentAddress: gateway.agent, caCertificate: gateway.ca });
  // No operator of this gateway has agreed to any terms.
  expect(gatewayInfo.obtainsCertificates).toBe(false);
  expect(gatewayInfo.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(await readFile(gatewayInfo.caFile, 'utf8')).toBe(gateway.ca);
});

test('who asks from another machine is told the certificate, and no path of this one', async () => {
  const gateway = await sharedGateway();
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  const { body } = await gateway.graphql(QUERY, {}, { headers });
  expect(body.data.gatewayInfo).toMatchObject({ caFile: null, caCertificate: gateway.ca });
});

test('strangers are told nothing', async () => {
  const gateway = await sharedGateway();
  const { body } = await gateway.graphql(QUERY, {}, { key: null });
  expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test.each([
  ['loopback, seen from there', '127.0.0.1:4443', [], 'http://localhost:4000', '127.0.0.1:4443'],
  ['loopback, behind a proxy', '127.0.0.1:4443', [], 'https://gateway.example.com', 'gateway.example.com:4443'],
  ['an address of its own', '192.0.2.1:4443', [], 'https://gateway.example.com', '192.0.2.1:4443'],
  ['every address, seen from this machine', '0.0.0.0:4443', [], 'http://127.0.0.1:4000', '127.0.0.1:4443'],
  ['every address, seen from elsewhere', '[::]:4443', [], 'https://192.0.2.1:4000', '192.0.2.1:4443'],
  ['a name that was set', '0.0.0.0:4443', ['agents.example.com'], 'http://localhost:4000', 'agents.example.com:4443'],
])('agents connect to a gateway on %s where they can reach it', (_, address, hosts, baseUrl, expected) => {
  expect(agentAddress({ address, hosts }, baseUrl)).toBe(expected);
});
