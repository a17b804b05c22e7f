// Agents as the API shows them. They stay when they are offline.

import type { Labels } from '../../../tunnel/endpoints/endpoint.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { reference, typeOfKind, WHEN_GONE } from '../../collections/references.ts';
import { named, related } from '../../collections/related.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { mayActFor } from '../accounts/owner.ts';
import { liveNodeIds } from '../tunnels/live-tunnels.ts';
import { TunnelSession } from '../tunnels/tunnel-sessions.ts';

const PAST_SESSIONS_MAX = 50;
/** The endpoints of an agent, in SQL. */
const SERVED_BY_AGENT =
  'EXISTS (SELECT 1 FROM tunnel JOIN tunnel_session session ON session.id = tunnel.session_id ' +
  'WHERE tunnel.id = t.tunnel_id AND session.agent_id = parent.id)';

export const AgentCommandType = builder.enumType('AgentCommand', {
  description: 'What an agent can be told to do.',
  values: {
    RESTART: { value: 'restart', description: 'To start anew, with what its configuration says then.' },
    STOP: { value: 'stop', description: 'To close its tunnels and end.' },
    UPDATE: { value: 'update', description: 'To replace itself by another version, and to start that.' },
  } as const,
});

type Command = typeof AgentCommandType.$inferType;
type Refusals = Partial<Record<Command, string>>;

const COMMANDS: readonly Command[] = ['restart', 'stop', 'update'];

const AgentRefusal = builder.objectRef<{ command: Command; reason: string }>('AgentRefusal').implement({
  description: 'A command that an agent does not follow, as it said when it connected.',
  fields: (t) => ({
    command: t.expose('command', { type: AgentCommandType, description: 'The command.' }),
    reason: t.exposeString('reason', { description: 'Why, in the words of the agent.' }),
  }),
});

const PastSession = builder.prismaObject('PastSession', {
  description: 'A session of an agent that has ended.',
  fields: (t) => ({
    sessionId: t.exposeID('id', { description: 'The id that the session had: `ts_…`.' }),
    startedAt: t.expose('startedAt', { type: 'Timestamp', description: 'When the agent connected.' }),
    endedAt: t.expose('endedAt', { type: 'Timestamp', description: 'When the session ended.' }),
    reason: t.exposeString('reason', { description: 'Why it ended, as in `the agent said good-bye`.' }),
    ip: t.exposeString('ip', { description: 'The address of the agent as the gateway saw it.' }),
    agentVersion: t.exposeString('agentVersion', { description: 'The version of the agent, as the agent said.' }),
    credentialId: t.exposeID('credentialId', {
      nullable: true,
      description: 'The credential that it was opened with, which may have been deleted since.',
    }),
    credential: t.field({
      type: typeOfKind('credential'),
      nullable: true,
      description: `The credential that it was opened with. ${WHEN_GONE}`,
      select: { credentialId: true },
      resolve: reference(({ credentialId }) => credentialId),
    }),
    nodeId: t.exposeID('nodeId', { description: 'The node of the gateway that the agent was connected to.' }),
  }),
});

/** Leaves what is on a node whose lease holds. */
async function onLiveNodes<T extends { nodeId: string }>(sessions: T[], context: Context): Promise<T[]> {
  if (sessions.length === 0) return [];
  const live = new Set(await liveNodeIds(context));
  return sessions.filter(({ nodeId }) => live.has(nodeId));
}

/** @throws {ApiError} when so many cannot be given. */
function checkCount(first: number | null | undefined, max: number): number {
  const count = first ?? max;
  if (count < 1 || count > max) throw new ApiError('limitOutOfRange', { member: 'first', min: 1, max });
  return count;
}

export const Agent = builder.prismaObject('Agent', {
  description:
    'A program that connects to the gateway with a credential, also while it is offline. Our own agent is recognized by the id ' +
    'that it keeps beside its state; another one by its credential, its host and the name that it gives itself. An agent that has ' +
    'not been connected for `AGENT_KEEP_DAYS` is forgotten, and of each account the 50,000 that were seen last are kept.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `agt_…`.' }),
    name: t.exposeString('name', {
      description: 'What it is called: as `updateAgent` says, or else as it calls itself, its host, or its address.',
    }),
    assignedName: t.exposeString('assignedName', {
      nullable: true,
      description: 'The name that `updateAgent` gave it; null when it has none.',
    }),
    reportedName: t.exposeString('reportedName', {
      description: 'What it calls itself (`AGENT_NAME`); "" for nothing.',
    }),
    hostName: t.exposeString('hostName', { description: 'The name of its host, as it says; "" when it does not.' }),
    labels: t.field({
      type: 'Labels',
      description:
        'All its labels: those that it gives itself, in their place those of its credential, and in the place of both those that ' +
        '`updateAgent` gave it.',
      select: { labels: true },
      resolve: ({ labels }) => labels as Labels,
    }),
    assignedLabels: t.field({
      type: 'Labels',
      description: 'The labels that `updateAgent` gave it.',
      select: { assignedLabels: true },
      resolve: ({ assignedLabels }) => assignedLabels as Labels,
    }),
    reportedLabels: t.field({
      type: 'Labels',
      description: 'The labels that it gives itself (`AGENT_LABELS`).',
      select: { reportedLabels: true },
      resolve: ({ reportedLabels }) => reportedLabels as Labels,
    }),
    version: t.exposeString('version', { description: 'Its version, as it says.' }),
    userAgent: t.exposeString('userAgent', { description: 'The name and version of its program, as it says.' }),
    os: t.exposeString('os', { description: 'Its operating system, as it says.' }),
    arch: t.exposeString('arch', { description: 'Its processor, as it says.' }),
    ip: t.exposeString('ip', { description: 'Its address as the gateway saw it last.' }),
    credential: t.field({
      type: typeOfKind('credential'),
      nullable: true,
      description: 'The credential that it connected with last; null when that has been deleted.',
      select: { credentialId: true },
      resolve: reference(({ credentialId }) => credentialId),
    }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'Timestamp', description: 'When it connected for the first time.' }),
    lastSeenAt: t.field({
      type: 'Timestamp',
      nullable: true,
      description: 'Until when it was connected last; null while it is online.',
      select: { lastSeenAt: true, sessions: { select: { nodeId: true } } },
      resolve: async ({ lastSeenAt, sessions }, _, context) =>
        (await onLiveNodes(sessions, context)).length > 0 ? null : lastSeenAt,
    }),
    online: t.boolean({
      description: 'Whether it is connected: a session of it answers heartbeats.',
      select: { sessions: { select: { nodeId: true } } },
      resolve: async ({ sessions }, _, context) => (await onLiveNodes(sessions, context)).length > 0,
    }),
    sessions: related(t, {
      ...{ kind: 'tunnelSession', on: named('agent_id') },
      description: 'The sessions that it has now.',
    }),
    pastSessions: t.relation('pastSessions', {
      type: PastSession,
      description: `The last sessions of it that have ended, the newest first; the last ${PAST_SESSIONS_MAX} are kept.`,
      args: { first: t.arg.int({ description: `How many to give; ${PAST_SESSIONS_MAX} when left out.` }) },
      query: ({ first }) => ({ orderBy: { id: 'desc' }, take: checkCount(first, PAST_SESSIONS_MAX) }),
    }),
    endpoints: related(t, {
      ...{ kind: 'endpoint', on: SERVED_BY_AGENT, member: 'agent.id' },
      description: 'The addresses that it serves now.',
    }),
    offlineEndpoints: related(t, {
      ...{ kind: 'offlineEndpoint', on: named('agent_id') },
      description: 'The addresses that it served and nobody serves now.',
    }),
    accepts: t.field({
      type: [AgentCommandType],
      description: 'The commands that it follows, as far as it said when it connected. It may still refuse one.',
      select: { refusals: true },
      resolve: ({ refusals }) => COMMANDS.filter((command) => (refusals as Refusals)[command] === undefined),
    }),
    refuses: t.field({
      type: [AgentRefusal],
      description: 'The commands that it does not follow, and why.',
      select: { refusals: true },
      resolve: ({ refusals }) =>
        COMMANDS.flatMap((command) => {
          const reason = (refusals as Refusals)[command];
          return reason === undefined ? [] : { command, reason };
        }),
    }),
    mayChange: t.boolean({
      description: 'Whether you may change it and send it commands: as an admin, or as the owner of its credential.',
      select: { credential: { select: { ownerId: true } } },
      resolve: ({ credential }, _, context) => mayActFor(context, credential?.ownerId),
    }),
  }),
});

builder.prismaObjectField(TunnelSession, 'agent', (t) =>
  t.relation('agent', {
    nullable: true,
    description: 'The agent that opened it; null of a session that an earlier version of the gateway accepted.',
  }),
);
