// Commands to many agents at once, with what became of each. In GraphQL only.

import { limitConcurrency } from '../../../protocol/concurrency-limit.ts';
import type { CommandOutcome, SessionCommand } from '../../../tunnel/control/session-commands.ts';
import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { mutation } from '../../collections/mutation.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import type { Route } from '../../route.ts';
import { checkBytes } from '../../text-limits.ts';
import { mayActFor } from '../accounts/owner.ts';
import { onLiveNodes } from '../tunnels/live-tunnels.ts';
import { whereAgents } from './agent-selection.ts';
import { Agent, AgentCommandType } from './agent-type.ts';

const AGENTS_MAX = 500;
/** How many agents are asked at the same time. One that does not answer takes five seconds. */
const AT_ONCE = 50;
const VERSION_MAX_BYTES = 64;

const OUTCOMES = {
  DONE: 'It has agreed.',
  REFUSED: 'It does not do it; `reason` says why.',
  OFFLINE: 'It is not connected.',
  UNREACHABLE: 'It did not answer within five seconds.',
  FORBIDDEN: 'It is not yours to command: only admins, and the owner of its credential, may.',
  UNKNOWN: 'There is no such agent.',
} as const;
type Outcome = keyof typeof OUTCOMES;

const AgentCommandOutcome = builder.enumType('AgentCommandOutcome', {
  description: 'What became of a command to an agent.',
  values: Object.fromEntries(Object.entries(OUTCOMES).map(([name, description]) => [name, { description }])) as Record<
    Outcome,
    { description: string }
  >,
});

interface Result {
  agentId: string;
  outcome: Outcome;
  reason?: string;
}

const AgentCommandResult = builder
  .objectRef<Result & { agent: typeof Agent.$inferType | null }>('AgentCommandResult')
  .implement({
    description: 'What became of a command to one agent.',
    fields: (t) => ({
      agentId: t.exposeID('agentId', { description: 'The id of the agent.' }),
      agent: t.expose('agent', { type: Agent, nullable: true, description: 'The agent; null of one that is unknown.' }),
      outcome: t.expose('outcome', { type: AgentCommandOutcome, description: 'What became of it.' }),
      reason: t.string({
        nullable: true,
        description: 'Why the agent does not do it, in its own words; null when it does, or was not reached.',
        resolve: ({ reason }) => reason ?? null,
      }),
    }),
  });

const CommandAgentsInput = builder.inputType('CommandAgentsInput', {
  description:
    'A command, and to whom: the agents of these ids, or else those that fit all of what is said beside. One of them has to be given.',
  fields: (t) => ({
    command: t.field({ type: AgentCommandType, required: true, description: 'What they are to do.' }),
    ids: t.idList({ description: `The ids of the agents; at most ${AGENTS_MAX}.` }),
    label: t.string({ description: 'Those with this label, `site=berlin`, or with any value of it, `site`.' }),
    credentialId: t.id({ description: 'Those that connected with this credential last.' }),
    version: t.string({ description: 'Those that are of this version now.' }),
    toVersion: t.string({ description: 'For `UPDATE`: to which version, at most 64 bytes; the newest when left out.' }),
    permitMajorVersion: t.boolean({
      description: 'For `UPDATE`: whether the major version may be another; false when left out.',
    }),
  }),
});

type Input = typeof CommandAgentsInput.$inferInput;

mutation('commandAgents', { gives: ['results', 'What became of each agent that was told.'] }, (t) =>
  t.field({
    type: [AgentCommandResult],
    nullable: true,
    access: { kind: 'agent' },
    weight: FEW_PER_DOCUMENT,
    description:
      `Tells agents what to do, at most ${AGENTS_MAX} in one call, and answers with what became of each when all have answered. ` +
      'Agents that are offline are not told later.',
    args: {
      input: t.arg({ type: CommandAgentsInput, required: true, description: 'The command, and to whom.' }),
      ...idempotencyKeyArgument,
    },
    resolve: async (_, { input }, context) => {
      const { order, agents } = await checkAll({
        order: () => orderOf(input),
        agents: () => selected(context, input),
      });
      const limit = limitConcurrency(AT_ONCE);
      const results = await Promise.all(agents.map((agent) => limit(() => tell(context, agent, order))));
      await recordCommands(context, agents, results, order);
      const known = new Map(agents.map((agent) => [agent.id, agent]));
      const unknown = [...new Set(input.ids ?? [])].filter((id) => !known.has(id));
      return [
        ...results.map((result) => ({ ...result, agent: known.get(result.agentId) ?? null })),
        ...unknown.map((agentId) => ({ agentId, outcome: 'UNKNOWN' as const, agent: null })),
      ];
    },
  }),
);

function orderOf({ command, toVersion, permitMajorVersion }: Input): SessionCommand {
  if (command !== 'update') return { kind: command };
  const version = toVersion ?? '';
  checkBytes('toVersion', version, VERSION_MAX_BYTES, 'versionTooLong');
  return { kind: 'update', version, permitMajorVersion: permitMajorVersion ?? false };
}

const session = { id: true, clientId: true, leg: true, node: { select: { id: true, address: true } } } as const;

/** @throws {ApiError} when nobody is selected by anything, or too many are. */
async function selected(context: Context, input: Input) {
  const { ids, label, credentialId, version } = input;
  if (!ids && label == null && credentialId == null && version == null) throw new ApiError('noAgentSelected');
  if (ids && ids.length > AGENTS_MAX) throw new ApiError('tooManyIds', { member: 'ids', max: AGENTS_MAX });
  const chosen = ids ? { id: { in: ids } } : await whereAgents({ label, credentialId, version }, context);
  const where = { AND: [{ accountId: context.accountId }, chosen] };
  const live = await onLiveNodes(context);
  const agents = await context.db.agent.findMany({
    where,
    orderBy: { id: 'desc' },
    take: AGENTS_MAX + 1,
    include: {
      credential: { select: { ownerId: true } },
      sessions: { where: live, select: session, orderBy: { leg: 'asc' } },
    },
  });
  if (agents.length > AGENTS_MAX)
    throw new ApiError('tooManyAgentsSelected', { count: await context.db.agent.count({ where }), max: AGENTS_MAX });
  return agents;
}

type Selected = Awaited<ReturnType<typeof selected>>[number];

async function tell(context: Context, agent: Selected, order: SessionCommand): Promise<Result> {
  const { id: agentId, credential, sessions, refusals } = agent;
  if (!mayActFor(context, credential?.ownerId)) return { agentId, outcome: 'FORBIDDEN' };
  const known = (refusals as Record<string, string>)[order.kind];
  if (known !== undefined) return { agentId, outcome: 'REFUSED', reason: known };
  if (sessions.length === 0) return { agentId, outcome: 'OFFLINE' };
  // The sessions of one program are its legs: it is told once, in the first of them.
  const isFirst = ({ clientId }: (typeof sessions)[number], index: number) =>
    sessions.findIndex((other) => other.clientId === clientId) === index;
  const told = sessions.filter(isFirst).map(({ id, node }) => context.app.sessions.command(id, order, node));
  const outcomes = await Promise.all(told);
  return { agentId, ...worst(outcomes) };
}

/** What is said of an agent that runs as several programs. */
function worst(outcomes: readonly CommandOutcome[]): Omit<Result, 'agentId'> {
  for (const outcome of outcomes)
    if (typeof outcome === 'object') return { outcome: 'REFUSED', reason: outcome.refused };
  return { outcome: outcomes.includes('unreachable') ? 'UNREACHABLE' : 'DONE' };
}

const actions = { restart: 'AGENT_RESTARTED', stop: 'AGENT_STOPPED', update: 'AGENT_UPDATED' } as const;

/** Keeps who told which agents what, of those that agreed. */
async function recordCommands(
  context: Context,
  agents: readonly Selected[],
  results: readonly Result[],
  { kind, ...particulars }: SessionCommand,
): Promise<void> {
  const done = new Set(results.filter(({ outcome }) => outcome === 'DONE').map(({ agentId }) => agentId));
  const acts = agents
    .filter(({ id }) => done.has(id))
    .map(({ id, name, ip, version }) => {
      const after = { ip, version, ...particulars };
      return { action: actions[kind], kind: 'agent', objectId: id, objectName: name, after };
    });
  if (acts.length > 0) await context.record(...acts);
}

export const routes: Route[] = [];
