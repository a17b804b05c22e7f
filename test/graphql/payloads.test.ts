// What mutations answer with: the object, what changed with it, and its place in the list.

import { beforeAll, expect, test } from 'vitest';
import { type Account, countingGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { statementsOf } from '../support/gateway/statements.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await countingGateway();
  account = await gateway.newAccount();
});

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says.
async function ask(document: string, variables: object = {}): Promise<any> {
  const { body } = await account.graphql(document, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

test('a module is answered with its route, which costs a statement only where it is selected', async () => {
  const { body: edge } = await account.call('POST', '/edges/https', {});
  const given = { match_type: 'path_prefix', match: '/' };
  const { body: route } = await account.call('POST', `/edges/https/${edge.id}/routes`, given);
  const replace = (selection: string, threshold: number) =>
    ask(
      `mutation ($edgeId: ID!, $id: ID!, $threshold: Float!) {
        replaceHttpsEdgeRouteCircuitBreaker(edgeId: $edgeId, id: $id, input: { errorThresholdPercentage: $threshold }) {
          circuitBreaker { errorThresholdPercentage } ${selection} } }`,
      { edgeId: edge.id, id: route.id, threshold },
    );
  const withRoute = 'httpsEdgeRoute { id match circuitBreaker { errorThresholdPercentage } }';
  for (const selection of ['', withRoute]) await replace(selection, 0.1);
  const alone = await statementsOf(() => replace('', 0.2));
  let answer: unknown;
  const both = await statementsOf(async () => {
    answer = await replace(withRoute, 0.3);
  });
  const circuitBreaker = { errorThresholdPercentage: 0.3 };
  expect(answer).toEqual({
    replaceHttpsEdgeRouteCircuitBreaker: {
      circuitBreaker,
      httpsEdgeRoute: { id: route.id, match: '/', circuitBreaker },
    },
  });
  expect(both.length).toBe(alone.length + 1);
  const unset = `mutation ($edgeId: ID!, $id: ID!) {
    deleteHttpsEdgeRouteCircuitBreaker(edgeId: $edgeId, id: $id) { httpsEdgeRoute { id circuitBreaker { enabled } } } }`;
  expect(await ask(unset, { edgeId: edge.id, id: route.id })).toEqual({
    deleteHttpsEdgeRouteCircuitBreaker: { httpsEdgeRoute: { id: route.id, circuitBreaker: null } },
  });
});

test('the edge of a new object has the cursor that its list takes, and costs nothing', async () => {
  const create = (selection: string) => ask(`mutation { createCredential(input: {}) { ${selection} } }`);
  const { createCredential: older } = await create('credential { id }');
  const withEdge = 'token credential { id owner { id } } credentialEdge { cursor node { id owner { id } } }';
  for (const selection of ['credential { id owner { id } }', withEdge]) await create(selection);
  const alone = await statementsOf(() => create('credential { id owner { id } }'));
  let newer: { credential: { id: string }; credentialEdge: { cursor: string; node: object } } | undefined;
  const both = await statementsOf(async () => {
    newer = (await create(withEdge)).createCredential;
  });
  expect(newer?.credentialEdge.node).toEqual(newer?.credential);
  expect(both.length).toBe(alone.length);
  const { credentials } = await ask(
    'query ($after: String) { credentials(first: 100, after: $after) { nodes { id } } }',
    {
      after: newer?.credentialEdge.cursor,
    },
  );
  const ids = credentials.nodes.map(({ id }: { id: string }) => id);
  expect(ids).not.toContain(newer?.credential.id);
  expect(ids).toContain(older.credential.id);
});

test('what is deleted is named, and what it belonged to is there as it is then', async () => {
  const { body: policy } = await account.call('POST', '/ip_policies', {});
  const given = { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' };
  const { body: rule } = await account.call('POST', '/ip_policy_rules', given);
  const remove = 'mutation ($id: ID!) { deleteIpPolicyRule(id: $id) { deletedIpPolicyRuleId ipPolicy { id } } }';
  expect(await ask(remove, { id: rule.id })).toEqual({
    deleteIpPolicyRule: { deletedIpPolicyRuleId: rule.id, ipPolicy: { id: policy.id } },
  });
});
