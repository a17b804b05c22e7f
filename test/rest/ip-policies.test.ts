import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

const newPolicy = async () => (await account.call('POST', '/ip_policies', {})).body.id as string;
const add = (policy: string, cidr: string, more: object = {}) =>
  account.call('POST', '/ip_policy_rules', { ip_policy_id: policy, cidr, action: 'allow', ...more });

describe('the network of a rule', () => {
  test.each([
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['192.0.2.7/32', '192.0.2.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['::/0', '::/0'],
    ['2001:DB8:0:0::/32', '2001:db8::/32'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001/128', '2001:db8::1/128'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
  ])('%s is shown as it was written, and is %s to those who look for it', async (cidr, kept) => {
    const policy = await newPolicy();
    const { status, body } = await add(policy, cidr);
    expect({ status, cidr: body.cidr }).toEqual({ status: 201, cidr });
    const filter = `cidr == "${kept}" && ip_policy.id == "${policy}"`;
    const listed = (await account.call('GET', `/ip_policy_rules?${new URLSearchParams({ filter })}`)).body;
    expect(listed.ip_policy_rules).toEqual([body]);
  });

  test.each([
    ['10.1.2.3/8', 1409, '10.0.0.0/8'],
    ['2001:db8::7/64', 1409, '2001:db8::/64'],
    ['10.1.2.3', 1413, '10.1.2.3/32'],
    ['2001:DB8::7', 1413, '2001:db8::7/128'],
  ])('%s is refused with what would be right', async (cidr, number, right) => {
    const { status, body } = await add(await newPolicy(), cidr);
    expect({ status, code: body.error_code }).toEqual({ status: 400, code: `ERR_GATEWAY_${number}` });
    expect(body.msg).toContain(right);
    expect((await add(await newPolicy(), right)).status).toBe(201);
  });

  test('stands once in a policy, however it is written, and may stand in others', async () => {
    const policy = await newPolicy();
    expect((await add(policy, '2001:db8::/32')).status).toBe(201);
    const again = await add(policy, '2001:0DB8::/32', { action: 'deny' });
    expect(again).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_1408' } });
    expect((await add(await newPolicy(), '2001:db8::/32')).status).toBe(201);

    const { body: other } = await add(policy, '192.0.2.0/24');
    const moved = await account.call('PATCH', `/ip_policy_rules/${other.id}`, { cidr: '2001:db8::/32' });
    expect(moved).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_1408' } });
  });

  test('is had by one of those who ask for it at the same time', async () => {
    const policy = await newPolicy();
    const answers = await Promise.all(Array.from({ length: 5 }, () => add(policy, '192.0.2.0/24')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });
});

test('a policy has at most 1,000 rules', async () => {
  const policyId = await newPolicy();
  const { accountId } = account;
  await gateway.app.prisma.ipPolicyRule.createMany({
    data: Array.from({ length: 999 }, (_, index) => ({
      ...{ id: newId('ipr'), accountId, policyId, action: 'ALLOW' as const },
      cidr: `10.${index >> 8}.${index & 255}.0/24`,
    })),
  });
  const last = await add(policyId, '192.0.2.0/24');
  expect(last.status).toBe(201);
  const refused = await add(policyId, '198.51.100.0/24');
  expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_1417' } });
  expect((await account.call('DELETE', `/ip_policy_rules/${last.body.id}`)).status).toBe(204);
  expect((await add(policyId, '198.51.100.0/24')).status).toBe(201);
});

test('the rules go with their policy', async () => {
  const policy = await newPolicy();
  const { body: rule } = await add(policy, '192.0.2.0/24');
  expect(rule.ip_policy).toEqual({ id: policy, uri: `${gateway.api}/ip_policies/${policy}` });
  expect((await account.call('DELETE', `/ip_policies/${policy}`)).status).toBe(204);
  expect((await account.call('GET', `/ip_policy_rules/${rule.id}`)).status).toBe(404);
  const refused = await add(policy, '198.51.100.0/24');
  expect(refused).toMatchObject({ status: 400, body: { error_code: 'ERR_GATEWAY_1414' } });
});

test('a policy that an edge or a route names cannot be deleted', async () => {
  const { prisma } = gateway.app;
  const { body: edge } = await account.call('POST', '/edges/https', {});
  const { body: route } = await account.call('POST', `/edges/https/${edge.id}/routes`, {
    ...{ match_type: 'path_prefix', match: '/' },
  });
  const [ofEdge, ofRoute] = [await newPolicy(), await newPolicy()];
  await prisma.edgeIpPolicy.create({ data: { edgeId: edge.id, policyId: ofEdge, position: 0 } });
  await prisma.routeIpPolicy.create({ data: { routeId: route.id, policyId: ofRoute, position: 0 } });
  for (const policy of [ofEdge, ofRoute]) {
    const refused = await account.call('DELETE', `/ip_policies/${policy}`);
    expect(refused).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_1420' } });
  }
  await account.call('DELETE', `/edges/https/${edge.id}`);
  for (const policy of [ofEdge, ofRoute])
    expect((await account.call('DELETE', `/ip_policies/${policy}`)).status).toBe(204);
});
