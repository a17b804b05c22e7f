// What rules watch, and when it is an alert.

import { expect, test } from 'vitest';
import { waiting } from '../events/waiting.ts';
import { createChannel, createRule, createSilence, mutate, newFleet, openAlerts } from '../support/alerts.ts';
import { account, alertThat, gateway, MINUTE, now, pass, receiver, useAlerts } from './lab.ts';

useAlerts({ ALERT_GRACE_MS: '0' });

/** Opens sessions of agents with a label, one each. @returns what ends them. */
async function labelled(site: string, count: number): Promise<(() => Promise<void>)[]> {
  const fleet = await newFleet(gateway, account);
  const ends = [];
  for (let number = 0; number < count; number++) ends.push(await fleet.serve(number, number + 1));
  const { credentialId } = fleet;
  const { body } = await account.graphql(
    'query ($credentialId: ID!) { agents(credentialId: $credentialId) { nodes { id } } }',
    { credentialId },
  );
  for (const { id } of body.data.agents.nodes)
    await mutate(
      account,
      '($id: ID!, $input: UpdateAgentInput!) { updateAgent(id: $id, input: $input) { agent { id } } }',
      {
        id,
        input: { labels: { site } },
      },
    );
  return ends;
}

test('an agent that is offline is an alert of rules that select it by its label, until it is back', async () => {
  const [end] = await labelled('berlin', 1);
  await labelled('paris', 1);
  const rule = { condition: 'AGENT_OFFLINE', forSeconds: 0, resolveSeconds: 0 };
  await createRule(account, { ...rule, name: 'berlin', selector: { label: 'site=berlin' } });
  await createRule(account, { ...rule, name: 'paris', selector: { label: 'site=paris' } });
  await createRule(account, { ...rule, name: 'hall', selector: { label: 'hall' } });
  await end?.();
  const { id, subjects } = await alertThat({ name: 'berlin', subjectCount: 1 });
  expect(subjects).toEqual([
    { objectId: expect.stringMatching(/^agt_/), name: expect.any(String), detail: 'no heartbeat' },
  ]);
  await createSilence(account, { selector: { label: 'site' }, minutes: 60 });
  await expect.poll(() => openAlerts(account)).toEqual([]);
  const { body } = await account.graphql('query ($id: ID!) { alert(id: $id) { state } }', { id });
  expect(body.data.alert.state).toBe('RESOLVED');
});

test('a share of requests that fail is an alert, of the endpoints that are selected together', async () => {
  const fleet = await newFleet(gateway, account);
  await fleet.serve(0, 3);
  const { prisma } = gateway.app;
  const { accountId } = account;
  const endpoints = await prisma.endpoint.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  const zero = {
    unanswered: 0,
    informational: 0,
    redirection: 0,
    clientError: 0,
    connections: 0,
    bytesIn: 0,
    bytesOut: 0,
  };
  const visits = (index: number, success: number, failures: number) =>
    prisma.trafficStat.create({
      data: {
        ...{
          ...zero,
          resolution: 10,
          at: new Date(Math.floor(now() / 10_000) * 10_000),
          writer: `w${index} ${success}`,
        },
        ...{ subjectId: endpoints[index]?.id ?? '', accountId, success, serverError: failures, failures },
        ...{ openConnections: 0, durationMs: 0 },
      },
    });
  const rule = { condition: 'ERROR_SHARE', forSeconds: 0, resolveSeconds: 0 };
  await createRule(account, { ...rule, name: 'a quarter', threshold: 0.25 });
  await createRule(account, { ...rule, name: 'half', threshold: 0.5 });
  await visits(0, 0, 4); // All of them failed, but of few requests.
  const [end] = await labelled('berlin', 1);
  await end?.();
  // Evaluated in the same round.
  const other = await createRule(account, { name: 'sign of life', condition: 'AGENT_OFFLINE', forSeconds: 0 });
  await alertThat({ name: 'sign of life' });
  await mutate(account, '($id: ID!) { deleteAlertRule(id: $id) { deletedAlertRuleId } }', { id: other.id });
  await visits(1, 4, 2);
  await visits(2, 6, 0);
  await alertThat({
    ...{ name: 'a quarter', subjectCount: 2, value: 6 / 16 },
    subjects: [
      { objectId: endpoints[0]?.id, detail: '4 of 4 requests failed' },
      { objectId: endpoints[1]?.id, detail: '2 of 6 requests failed' },
    ],
  });
  pass(2 * MINUTE);
  await expect.poll(() => openAlerts(account)).toEqual([]);
});

test('a destination that does not take events, and the events that wait for it, are alerts; events tell of them', async () => {
  const events = await createChannel(account, { name: 'pipeline', kind: 'EVENTS' });
  const told = await waiting(gateway, account, ['alert_fired.v0', 'alert_resolved.v0']);
  receiver.close();
  const target = { webhook: { url: receiver.url, signing_secret: 'a-secret-of-a-tenant' } };
  const { body: destination, text } = await account.call('POST', '/event_destinations', {
    description: 'logs',
    target,
  });
  expect(destination, text).toMatchObject({ id: expect.any(String) });
  const sources = [{ type: 'bot_user_created.v0' }];
  await account.call('POST', '/event_subscriptions', { sources, destination_ids: [destination.id] });
  await mutate(account, '{ createBotUser(input: { name: "one" }) { botUser { id } } }');
  const selector = { destinationIds: [destination.id] };
  const rule = { selector, forSeconds: 600, channelIds: [events.id] };
  await createRule(account, { ...rule, name: 'stuck', condition: 'DESTINATION_FAILING' });
  await createRule(account, { ...rule, name: 'backlog', condition: 'BACKLOG', threshold: 0, forSeconds: 0 });
  await alertThat({ name: 'backlog', value: 1, subjects: [{ objectId: destination.id, name: 'logs' }] });
  pass(10 * MINUTE);
  await expect.poll(() => openAlerts(account)).toMatchObject([{ name: 'stuck' }, { name: 'backlog' }]);
  const fired = async () => (await told.events()).map(({ event_type, object }) => `${event_type} ${object.rule.name}`);
  await expect.poll(fired).toEqual(['alert_fired.v0 backlog', 'alert_fired.v0 stuck']);
});

test('an endpoint that is online and failing is an alert, until it is well again', async () => {
  const { prisma } = gateway.app;
  const { accountId } = account;
  await (await newFleet(gateway, account)).serve(0, 2);
  const [endpoint] = await prisma.endpoint.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  const rule = { name: 'errors', condition: 'ENDPOINT_FAILING', forSeconds: 120, resolveSeconds: 0 };
  await createRule(account, { ...rule, selector: { addressPattern: '*.tunnel.localhost' } });
  const at = new Date(now());
  const endpointId = endpoint?.id ?? '';
  await prisma.endpointHealth.create({ data: { endpointId, accountId, failing: true, since: at, visitedAt: at } });
  pass(2 * MINUTE);
  await alertThat({ subjectCount: 1, subjects: [{ objectId: endpointId, name: endpoint?.publicUrl }] });
  await prisma.endpointHealth.update({ where: { endpointId }, data: { failing: false } });
  await expect.poll(() => openAlerts(account)).toEqual([]);
});

test('a certificate that expires soon is an alert at once', async () => {
  const { prisma } = gateway.app;
  const { id } = await prisma.tlsCertificate.create({
    data: {
      ...{
        id: 'cert_2mQzXPv4kCqWpQdJ3yQm0Zr5fTa',
        accountId: account.accountId,
        certificatePem: '',
        privateKey: '',
        subject: {},
      },
      ...{ dnsNames: ['shop.example.com'], ips: [], issuerCommonName: '', serialNumber: '', privateKeyType: '' },
      ...{ keyUsages: [], extendedKeyUsages: [], notBefore: new Date(0) },
      notAfter: new Date(now() + 13 * 24 * 60 * MINUTE),
    },
  });
  const rule = { name: 'certificates', condition: 'CERTIFICATE_EXPIRES' };
  await createRule(account, { ...rule, threshold: 12, selector: { certificateIds: [id] } });
  await createRule(account, { ...rule, threshold: 14 }); // No domain uses it.
  const due = await createRule(account, { ...rule, threshold: 14, selector: { certificateIds: [id] } });
  await alertThat({
    subjects: [{ objectId: id, name: 'shop.example.com', detail: expect.stringMatching(/^expires 2\d{3}-/) }],
  });
  await mutate(account, '($id: ID!) { updateAlertRule(id: $id, input: { enabled: false }) { alertRule { id } } }', {
    id: due.id,
  });
  await expect.poll(() => openAlerts(account)).toEqual([]);
});
