// Edges that are changed at one gateway, as visitors meet them at another on the same database.

import { expect, onTestFinished, test } from 'vitest';
import { done, errorOf, newEdge, newRoute, visitEdge } from '../live/edges/support.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, startTestGateway } from '../support/gateway/gateway.ts';
import { newPlace } from '../support/gateway/place.ts';

const answering = (body: string) => ({
  enabled: true,
  value: JSON.stringify({
    on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 200, body } }] }],
  }),
});

test.runIf(onServer)('what changes at one gateway is met at the other', { timeout: 60_000 }, async () => {
  const place = await newPlace();
  onTestFinished(() => place.remove());
  const here = await startTestGateway({}, { place });
  onTestFinished(() => here.close());
  const there = await startTestGateway({}, { place });
  onTestFinished(() => there.close());
  const account = await here.newAccount();
  const [edge, other] = [await newEdge(account), await newEdge(account)];
  const meets = (expected: number | string, of = edge) =>
    eventually(async () => {
      const answer = await visitEdge(there, of);
      expect(answer.status === 200 ? answer.body : (errorOf(answer) ?? answer.status)).toBe(expected);
    });

  await meets(90130);
  const route = await newRoute(account, edge, { match: '/', traffic_policy: answering('one') });
  await meets('one');
  await done(account, 'PUT', `${route}/traffic_policy`, answering('two'));
  await meets('two');

  const { id: policyId } = await done(account, 'POST', '/ip_policies', {});
  const rule = { ip_policy_id: policyId, cidr: '127.0.0.0/8', action: 'allow' };
  const { id: ruleId } = await done(account, 'POST', '/ip_policy_rules', rule);
  await done(account, 'PUT', `${route}/ip_restriction`, { enabled: true, ip_policy_ids: [policyId] });
  await meets('two');
  await done(account, 'DELETE', `/ip_policy_rules/${ruleId}`);
  await eventually(async () => expect((await visitEdge(there, edge)).status).toBe(403));
  await done(account, 'POST', '/ip_policy_rules', rule);
  await meets('two');

  await newRoute(account, other, { match: '/', traffic_policy: answering('other') });
  await done(account, 'PATCH', edge.at, { hostports: [] });
  await done(account, 'PATCH', other.at, { hostports: [`${other.name}:443`, `${edge.name}:443`] });
  await meets('other');
  await done(account, 'PATCH', other.at, { hostports: [`${other.name}:443`] });
  await done(account, 'PATCH', edge.at, { hostports: [`${edge.name}:443`] });
  await meets('two');
  await done(account, 'DELETE', route);
  await meets(90130);
  await done(account, 'DELETE', edge.at);
  await meets(90100);
  await meets('other', other);
});
