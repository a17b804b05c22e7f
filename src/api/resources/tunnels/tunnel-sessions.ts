// Tunnel sessions: the agents that are connected right now, and what they can be told.

import { isId } from '../../../store/ids.ts';
import type { SessionCommand } from '../../../tunnel/control/session-commands.ts';
import type { AnnouncedRefusal } from '../../../tunnel/session/session-types.ts';
import { builder } from '../../builder/builder.ts';
import { collection, Node, readRoutes } from '../../collections/collection.ts';
import { ID_MEMBER, id, text, time } from '../../collections/members.ts';
import { mutation } from '../../collections/mutation.ts';
import { uriField } from '../../collections/notes.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import type { ShownRoundTrip } from '../../dependencies.ts';
import { ApiError, requireFound } from '../../errors/errors.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { nounOf } from '../../naming.ts';
import { route } from '../../route.ts';
import { mayActFor } from '../accounts/owner.ts';
import { ON_LIVE_NODES, onLiveNodes } from './live-tunnels.ts';

const PATH = '/tunnel_sessions';
const VERSION_MAX_BYTES = 64;

export const RoundTripType = builder.objectRef<ShownRoundTrip>('RoundTrip').implement({
  description: 'A heartbeat that went to the agent and came back: a sign of life.',
  fields: (t) => ({
    at: t.field({ type: 'Timestamp', description: 'When it came back.', resolve: ({ at }) => new Date(at) }),
    milliseconds: t.exposeFloat('milliseconds', { description: 'How long it took.' }),
    partial: t.exposeBoolean('isPartial', {
      nullable: true,
      description:
        'Whether a node of the gateway did not answer within a second: it may know of a newer one. ' +
        'Null where the node that answers has no links to others, and tells of itself alone.',
    }),
  }),
});

const RefusedCommand = builder.objectRef<AnnouncedRefusal>('RefusedCommand').implement({
  description: 'A command that an agent has said it will refuse.',
  fields: (t) => ({
    command: t.exposeString('command', { description: '`restart`, `stop` or `update`.' }),
    reason: t.exposeString('reason', { description: 'Why, in the words of the agent.' }),
  }),
});

export const TunnelSession = builder.prismaObject('TunnelSession', {
  description: 'An agent that is connected now.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `ts_…`.' }),
    uri: uriField(t, () => PATH),
    agentVersion: t.exposeString('agentVersion', { description: 'The version of the agent, as the agent says.' }),
    credential: t.field({
      type: typeOfKind('credential'),
      nullable: true,
      description: 'The credential that it was opened with; null when that has been deleted.',
      select: { credentialId: true },
      resolve: reference(({ credentialId }) => credentialId),
    }),
    ip: t.exposeString('ip', { description: 'The address of the agent as the gateway sees it.' }),
    metadata: t.exposeString('metadata', { description: 'What the agent noted of it, for machines.' }),
    os: t.exposeString('os', { description: 'The operating system of the agent, as the agent says.' }),
    region: t.exposeString('region', { description: 'The region of the gateway that the agent is connected to.' }),
    nodeId: t.exposeID('nodeId', {
      description: 'The node of the gateway that the agent is connected to; `gatewayInfo.nodes` lists them.',
    }),
    startedAt: t.expose('startedAt', { type: 'Timestamp', description: 'When the agent connected.' }),
    transport: t.exposeString('transport', { description: 'What agent and gateway speak, as `muxado/2`.' }),
    arch: t.exposeString('arch', { description: 'The processor of the agent, as the agent says.' }),
    userAgent: t.exposeString('userAgent', { description: 'The name and version of the agent’s program, as it says.' }),
    mayCommand: t.boolean({
      description: 'Whether you may tell the agent what to do: as an admin, or as the owner of its credential.',
      select: { credential: { select: { ownerId: true } } },
      resolve: ({ credential }, _, context) => mayActFor(context, credential?.ownerId),
    }),
    refusedCommands: t.field({
      type: [RefusedCommand],
      nullable: true,
      description:
        'The commands that the agent said it will refuse, when it connected; an empty list when it said of none. Null when the ' +
        'agent is connected to another node of the gateway that does not answer within a second.',
      resolve: async ({ id }, _, { app }) => {
        const refusals = await app.traffic.announcedRefusals(id);
        return refusals && [...refusals];
      },
    }),
    roundTrip: t.field({
      type: RoundTripType,
      nullable: true,
      description:
        'The last heartbeat that came back from the agent; null before the first, and when the agent is connected to ' +
        'another node of the gateway that does not answer within a second.',
      resolve: ({ id }, _, { app }) => app.traffic.newestRoundTrip([id]),
    }),
  }),
});

const tunnelSessions = collection({
  kind: 'tunnelSession',
  prefix: 'ts',
  path: PATH,
  single: 'tunnelSession',
  plural: 'tunnelSessions',
  typeName: 'TunnelSession',
  ref: TunnelSession,
  members: {
    ...ID_MEMBER,
    started_at: time('startedAt'),
    metadata: text('metadata'),
    ip: text('ip', { isOrdered: true }),
    agent_version: text('agentVersion', { isOrdered: true }),
    os: text('os'),
    arch: text('arch'),
    user_agent: text('userAgent'),
    region: text('region'),
    transport: text('transport'),
    node_id: id('nodeId'),
    'credential.id': id('credentialId', { isNullable: true }),
  },
  table: (db) => db.tunnelSession,
  where: onLiveNodes,
  search: {
    ...{
      rank: 30,
      table: 'tunnel_session',
      title: 't.ip',
      detail: `concat_ws(', ', nullif(t.agent_version, ''), nullif(t.os, ''), nullif(t.metadata, ''))`,
    },
    where: ON_LIVE_NODES,
    texts: ['t.ip', 't.agent_version', 't.os', 't.arch', 't.user_agent', 't.metadata'],
  },
});

const UpdateTunnelSessionInput = builder.inputType('UpdateTunnelSessionInput', {
  description: 'To which version the agent is to change.',
  fields: (t) => ({
    version: t.string({ description: 'The version, at most 64 bytes; the newest when left out.' }),
    permitMajorVersion: t.boolean({ description: 'Whether its major version may be another; false when left out.' }),
  }),
});

const command = (verb: string) =>
  `${verb} Answers with the id of the session once the agent has agreed; fails with \`CONFLICT\` and the agent’s ` +
  'reason when it does not, with `UNAVAILABLE` when it does not answer within five seconds. Only admins, and the owner of ' +
  'the credential that the agent is connected with, may.';
const idHelp = 'The id of the tunnel session.';
const payload = {
  gives: ['tunnelSessionId', 'The id of the session, which its agent may have ended by now.'],
  objects: { tunnelSession: { kind: 'tunnelSession' } },
} as const;

mutation('restartTunnelSession', payload, (t) =>
  t.id({
    nullable: true,
    access: { kind: 'tunnelSession' },
    description: command('Tells the agent of a session to start anew.'),
    args: { id: t.arg.id({ required: true, description: idHelp }), ...idempotencyKeyArgument },
    resolve: (_, { id }, context) => tell(context, id, { kind: 'restart' }),
  }),
);

mutation('stopTunnelSession', payload, (t) =>
  t.id({
    nullable: true,
    access: { kind: 'tunnelSession' },
    description: command('Tells the agent of a session to end.'),
    args: { id: t.arg.id({ required: true, description: idHelp }), ...idempotencyKeyArgument },
    resolve: (_, { id }, context) => tell(context, id, { kind: 'stop' }),
  }),
);

mutation('updateTunnelSession', payload, (t) =>
  t.id({
    nullable: true,
    access: { kind: 'tunnelSession' },
    description: command('Tells the agent of a session to replace itself by another version, and to start that.'),
    args: {
      id: t.arg.id({ required: true, description: idHelp }),
      input: t.arg({ type: UpdateTunnelSessionInput, required: true, description: 'Which version.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (_, { id, input }, context) => {
      const version = input.version ?? '';
      const actual = Buffer.byteLength(version);
      if (actual > VERSION_MAX_BYTES)
        throw new ApiError('versionTooLong', { member: 'version', max: VERSION_MAX_BYTES, actual });
      return tell(context, id, { kind: 'update', version, permitMajorVersion: input.permitMajorVersion ?? false });
    },
  }),
);

const actions = { restart: 'AGENT_RESTARTED', stop: 'AGENT_STOPPED', update: 'AGENT_UPDATED' } as const;
const refusals = { restart: 'restartRefused', stop: 'stopRefused', update: 'updateRefused' } as const;

/** @throws {ApiError} when there is no such session, or its agent does not do it. */
async function tell(context: Context, id: string, order: SessionCommand): Promise<string> {
  const where = { id, accountId: context.accountId, ...(await onLiveNodes(context)) };
  const credentialSelect = { select: { id: true, ownerId: true } };
  const select = { ip: true, credential: credentialSelect, node: { select: { id: true, address: true } } };
  const row = isId('ts', id) ? await context.db.tunnelSession.findFirst({ where, select }) : null;
  const { ip, credential, node } = requireFound(row, nounOf(tunnelSessions.kind));
  if (!mayActFor(context, credential?.ownerId)) throw new ApiError('notYourAgent');
  const outcome = await context.app.sessions.command(id, order, node);
  if (outcome === 'unreachable') throw new ApiError('agentUnreachable');
  if (outcome !== 'done') throw new ApiError(refusals[order.kind], { reason: outcome.refused });
  const { kind: command, ...particulars } = order;
  const after = { ip, credential_id: credential?.id ?? null, ...particulars };
  await context.record({ action: actions[command], kind: tunnelSessions.kind, objectId: id, objectName: ip, after });
  return id;
}

const selection = 'id uri agentVersion credential { id uri } ip metadata os region startedAt transport';

export const routes = [
  ...readRoutes(tunnelSessions, 'tunnel_sessions', selection),
  route('POST', '/tunnel_sessions/:id/restart', 204, 'restartTunnelSession'),
  route('POST', '/tunnel_sessions/:id/stop', 204, 'stopTunnelSession'),
  route('POST', '/tunnel_sessions/:id/update', 204, 'updateTunnelSession'),
];
