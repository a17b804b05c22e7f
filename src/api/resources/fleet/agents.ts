// Agents: listed, narrowed, changed and forgotten. In GraphQL only.

import { assignToAgent } from '../../../store/agents/assign-to-agent.ts';
import type { Db } from '../../../store/database/client.ts';
import type { Labels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { changeOperation, mergeLabels } from '../../collections/bulk-change.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import { collection, deleteMutation } from '../../collections/collection.ts';
import { ID_MEMBER, id, labels as labelsMember, text, time } from '../../collections/members.ts';
import { givesObject, mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import type { Route } from '../../route.ts';
import { checkBytes, checkLabelLimits, type LabelLimits } from '../../text-limits.ts';
import { mayActFor } from '../accounts/owner.ts';
import { onLiveNodes } from '../tunnels/live-tunnels.ts';
import { agentArguments, whereAgents } from './agent-selection.ts';
import { Agent } from './agent-type.ts';

const NAME_MAX_BYTES = 128;
/** As in what agents say of themselves. */
export const AGENT_LABELS: LabelLimits = { count: 20, key: 64, value: 128 };

/** The labels as the search shows them: `key=value`, in SQL. */
const LABELS = `(SELECT string_agg(key || '=' || value, ', ' ORDER BY key) FROM jsonb_each_text(t.labels))`;

const agents = collection({
  kind: 'agent',
  prefix: 'agt',
  path: '/agents',
  single: 'agent',
  plural: 'agents',
  typeName: 'Agent',
  ref: Agent,
  members: {
    ...ID_MEMBER,
    name: text('name', { isOrdered: true }),
    host_name: text('hostName'),
    labels: labelsMember('labels'),
    version: text('version', { isOrdered: true }),
    os: text('os'),
    arch: text('arch'),
    ip: text('ip', { isOrdered: true }),
    'credential.id': id('credentialId', { isNullable: true }),
    first_seen_at: time('firstSeenAt', { isOrdered: false }),
    last_seen_at: time('lastSeenAt'),
  },
  table: (db) => db.agent,
  narrowing: { arguments: agentArguments, where: whereAgents },
  audit: {
    name: 'agent',
    subject: 'An agent',
    actions: ['updated', 'deleted'],
    selection:
      'id name assignedName hostName labels assignedLabels version os arch ip credential { id uri } firstSeenAt',
  },
  search: {
    ...{ rank: 25, table: 'agent', title: 't.name', detail: `concat_ws(', ', nullif(t.version, ''), t.ip, ${LABELS})` },
    texts: ['t.name', 't.host_name', 't.ip', 't.version', 't.os', LABELS],
  },
});

const UpdateAgentInput = builder.inputType('UpdateAgentInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    name: t.string({
      description: `What to call it, at most ${NAME_MAX_BYTES} bytes; "" leaves that to the agent again.`,
    }),
    labels: t.field({
      type: 'Labels',
      description:
        'What to label it with, in the place of labels of the same keys that the agent gives itself or has of its credential: at ' +
        'most 20, keys of 1 to 64 bytes without `=`, values of 1 to 128 bytes. Replaces all that were assigned; `{}` takes ' +
        'them away.',
    }),
  }),
});

mutation('updateAgent', givesObject('agent'), (t) =>
  t.prismaField({
    type: Agent,
    nullable: true,
    access: { kind: 'agent' },
    description:
      'Names or labels an agent. Only admins, and the owner of the credential that it connected with last, may.',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the agent.' }),
      input: t.arg({ type: UpdateAgentInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { id, input }, context) => changeAgent(context, id, input, query),
  }),
);

async function changeAgent(
  context: Context,
  id: string,
  input: { name?: string | null; labels?: Labels | null },
  query: object,
) {
  const name = input.name?.trim();
  const given = input.labels;
  const { labels } = checkAll({
    name: () => name !== undefined && checkBytes('name', name, NAME_MAX_BYTES, 'agentNameTooLong'),
    labels: () => (given ? checkLabelLimits(given, AGENT_LABELS) : undefined),
  });
  await checkMayChange(context, id);
  const where = { id, accountId: context.accountId };
  return context.update(agents, id, async (db) => {
    await assignToAgent(db, id, { name: name === undefined ? undefined : name || null, labels });
    return db.agent.findUniqueOrThrow({ ...query, where });
  });
}

const assignedLabels = changeOperation<Labels>({
  ...{ kind: agents.kind, table: 'agent', target: mergeLabels },
  async read({ db, accountId }, id) {
    const row = await db.agent.findUnique({ where: { id, accountId }, select: { assignedLabels: true } });
    return (row?.assignedLabels ?? null) as Labels | null;
  },
  write: (context, id, labels) => changeAgent(context, id, { labels }, { select: { id: true } }),
});
bulkOperation(agents.kind, 'CHANGE_LABELS', assignedLabels);

deleteMutation(agents, 'deleteAgent', {
  description:
    'Forgets an agent that is offline, with the history of its sessions; when it connects again, it is a new one. Its credential ' +
    'stays. Answers with its id; fails with `CONFLICT` while it is online.',
  check: checkMayChange,
  before: checkOffline,
});

/** @throws {ApiError} when there is no such agent, or it is not the caller's to change. */
async function checkMayChange(context: Context, id: string): Promise<void> {
  const where = { id, accountId: context.accountId };
  const select = { credential: { select: { ownerId: true } } };
  const { credential } = requireFound(await context.db.agent.findUnique({ where, select }), 'agent');
  if (!mayActFor(context, credential?.ownerId)) throw new ApiError('notYourAgentToChange');
}

/** @throws {ApiError} when the agent is online. While its row is locked, it opens no session. */
async function checkOffline(db: Db, id: string): Promise<void> {
  await db.$queryRaw`SELECT id FROM agent WHERE id = ${id} FOR UPDATE`;
  if ((await db.tunnelSession.count({ where: { agentId: id, ...(await onLiveNodes({ db })) } })) > 0)
    throw new ApiError('agentOnline');
}

export const routes: Route[] = [];
