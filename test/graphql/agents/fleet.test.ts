// The list of agents, their names and labels, and how they are forgotten.

import { describe, expect, test } from 'vitest';
import { forgetAgents } from '../../../src/store/agents/forget-agents.ts';
import { newId } from '../../../src/store/ids.ts';
import { newCredential, openSession } from '../../support/agents/live.ts';
import type { Account } from '../../support/gateway/gateway.ts';
import { subscribe } from '../../support/gateway/sse.ts';
import { account, ask, connect, credential, disconnect, gateway, list, report, useFleet } from './lab.ts';

useFleet();

describe('the list of agents', () => {
  test('is narrowed by what agents have in common', async () => {
    const other = await newCredential(account);
    await disconnect(
      await connect({ name: 'north gate', labels: { site: 'berlin', floor: '2' } }, { agentVersion: '1' }),
    );
    await connect({ name: 'south gate', labels: { site: 'paris' } }, { agentVersion: '2' });
    await connect({ name: 'pump', labels: { site: 'berlin' } }, { agentVersion: '2' }, other);
    const names = async (args: string) => (await list('name', args)).map(({ name }) => name);
    expect(await names('first: 10')).toEqual(['pump', 'south gate', 'north gate']);
    expect(await names('online: true')).toEqual(['pump', 'south gate']);
    expect(await names('online: false')).toEqual(['north gate']);
    expect(await names('version: "2"')).toEqual(['pump', 'south gate']);
    expect(await names(`credentialId: "${other.credentialId}"`)).toEqual(['pump']);
    expect(await names('label: "site=berlin"')).toEqual(['pump', 'north gate']);
    expect(await names('label: "floor"')).toEqual(['north gate']);
    expect(await names('text: "GATE south"')).toEqual(['south gate']);
    expect(await names('label: "site=berlin", online: true, first: 1')).toEqual(['pump']);
    const { agents } = await ask('{ agents(label: "site=berlin", first: 1) { totalCount pageInfo { hasNextPage } } }');
    expect(agents).toEqual({ totalCount: 2, pageInfo: { hasNextPage: true } });
    const { body } = await account.graphql(`{ agents(text: "${'x'.repeat(201)}") { totalCount } }`);
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'text' });
  });

  test('is summed up by versions, credentials and labels, those with the most agents first', async () => {
    await disconnect(await connect({ labels: { site: 'berlin' } }, { agentVersion: '1' }));
    await connect({ labels: { site: 'berlin' } }, { agentVersion: '2' });
    await connect({ labels: { site: 'paris' } }, { agentVersion: '2' });
    const query = `{ fleetSummary { total online offline versions { version count online }
      credentials { credential { id } description count online } labels { key value count online } } }`;
    expect((await ask(query)).fleetSummary).toEqual({
      ...{ total: 3, online: 2, offline: 1 },
      versions: [
        { version: '2', count: 2, online: 2 },
        { version: '1', count: 1, online: 0 },
      ],
      credentials: [{ credential: { id: credential.credentialId }, description: 'Berlin', count: 3, online: 2 }],
      labels: [
        { key: 'site', value: 'berlin', count: 2, online: 1 },
        { key: 'site', value: 'paris', count: 1, online: 1 },
      ],
    });
  });

  test('tells of agents that come, go, and are changed', async () => {
    const stream = await subscribe(
      gateway.api,
      account.key,
      'subscription { agentChanged { action agent { name online } } }',
    );
    const session = await connect({ name: 'pump' });
    await disconnect(session);
    expect(await stream.next()).toMatchObject({
      data: { agentChanged: { action: 'CREATED', agent: { name: 'pump' } } },
    });
    expect(await stream.next()).toMatchObject({ data: { agentChanged: { action: 'UPDATED' } } });
    stream.close();
  });
});

describe('a name and labels', () => {
  const UPDATE = `mutation ($id: ID!, $input: UpdateAgentInput!) {
    updateAgent(id: $id, input: $input) { agent { name assignedName labels assignedLabels reportedLabels } } }`;
  const update = (id: string, input: object, by: Pick<Account, 'graphql'> = account) =>
    by.graphql(UPDATE, { id, input });

  test('that are assigned go before those that the agent says, also when it connects again', async () => {
    const device = report({ name: 'pump', labels: { site: 'berlin', floor: '2' } });
    await openSession(gateway, credential, { agent: device });
    const [{ id }] = await list('id');
    const { body } = await update(id, { name: ' Pump 1 ', labels: { site: 'paris' } });
    const assigned = {
      ...{ name: 'Pump 1', assignedName: 'Pump 1', labels: { site: 'paris', floor: '2' } },
      ...{ assignedLabels: { site: 'paris' }, reportedLabels: { site: 'berlin', floor: '2' } },
    };
    expect(body.data.updateAgent.agent).toEqual(assigned);
    await openSession(gateway, credential, { agent: { ...device, name: 'renamed', labels: { site: 'rome' } } });
    expect(await list('name labels')).toEqual([{ name: 'Pump 1', labels: { site: 'paris' } }]);
    expect((await update(id, {})).body.data.updateAgent.agent).toMatchObject({
      name: 'Pump 1',
      labels: { site: 'paris' },
    });
    expect((await update(id, { name: '', labels: {} })).body.data.updateAgent.agent).toMatchObject({
      ...{ name: 'renamed', assignedName: null, labels: { site: 'rome' }, assignedLabels: {} },
    });
  });

  test('are bounded', async () => {
    await connect();
    const [{ id }] = await list('id');
    for (const [input, field] of [
      [{ name: 'x'.repeat(129) }, 'name'],
      [{ labels: { '': 'x' } }, 'labels'],
      [{ labels: { 'a=b': 'x' } }, 'labels'],
      [{ labels: { site: 'x'.repeat(129) } }, 'labels'],
      [{ labels: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'x'])) }, 'labels'],
    ] as const) {
      const { body } = await update(id, input);
      expect(body.errors?.[0].extensions, JSON.stringify(input)).toMatchObject({ code: 'BAD_USER_INPUT', field });
    }
  });

  test('are changed by admins, and by the owner of the credential', async () => {
    const member = await account.addOwner({ role: 'MEMBER' });
    const own = await newCredential(account, { owner_id: member.ownerId });
    await connect({ name: 'theirs' });
    await connect({ name: 'own' }, {}, own);
    const [{ id: ownId }, { id: otherId }] = await list('id');
    expect((await update(ownId, { name: 'mine' }, member)).body.data.updateAgent.agent.name).toBe('mine');
    expect((await update(otherId, { name: 'mine' }, member)).body.errors[0].extensions.code).toBe('FORBIDDEN');
    const unknown = await update(newId('agt'), {});
    expect(unknown.body.errors[0].extensions.code).toBe('NOT_FOUND');
  });
});

test('an agent is forgotten when it is offline, and is a new one then', async () => {
  const device = report();
  const session = await openSession(gateway, credential, { agent: device });
  const [{ id }] = await list('id');
  const forget = () => account.graphql('mutation ($id: ID!) { deleteAgent(id: $id) { deletedAgentId } }', { id });
  expect((await forget()).body.errors[0].extensions).toMatchObject({ code: 'CONFLICT', status: 409 });
  await disconnect(session);
  expect((await forget()).body.data).toEqual({ deleteAgent: { deletedAgentId: id } });
  expect(await list('id')).toEqual([]);
  await openSession(gateway, credential, { agent: device });
  expect((await list('id'))[0].id).not.toBe(id);
});

test('an agent that was not connected for long is forgotten, and no other', async () => {
  const { prisma } = gateway.app;
  const old = { lastSeenAt: new Date(Date.now() - 91 * 86_400_000) };
  await connect({ name: 'connected' });
  await disconnect(await connect({ name: 'recent' }));
  await prisma.agent.updateMany({ where: { accountId: account.accountId, name: 'connected' }, data: old });
  await disconnect(await connect({ name: 'old' }));
  await prisma.agent.updateMany({ where: { accountId: account.accountId, name: 'old' }, data: old });
  await forgetAgents(gateway.app, 90);
  expect((await list('name')).map(({ name }) => name)).toEqual(['recent', 'connected']);
});
