// The legs of a tunnel: the sessions of its agent that serve it, each at another node of the gateway. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import type { Route } from '../../route.ts';
import { Endpoint } from './endpoints.ts';
import { TunnelSession } from './tunnel-sessions.ts';
import { Tunnel } from './tunnels.ts';

type Session = typeof TunnelSession.$inferType;
/** The members of a session that are always selected. */
type LegSession = Pick<Session, 'id' | 'leg' | 'nodeId'>;

const TunnelLeg = builder.objectRef<LegSession>('TunnelLeg').implement({
  description: 'A session in which an agent serves a tunnel.',
  fields: (t) => ({
    number: t.exposeInt('leg', {
      description:
        'Its number among the sessions that the agent has at once, from 0 to 3; 4 or more of one from which the agent is moving ' +
        'to another process of the gateway.',
    }),
    nodeId: t.exposeID('nodeId', { description: 'The node of the gateway that the agent is connected to: `node_…`.' }),
    session: t.field({ type: TunnelSession, description: 'The session.', resolve: (session) => session as Session }),
  }),
});

const help =
  'The sessions in which the agent serves it, by their number: one, or several to different nodes of the gateway. It is ' +
  'offline when the last one ends.';

interface Served {
  session: LegSession;
  legs: { session: LegSession }[];
}

function legsOf({ session, legs }: Served): LegSession[] {
  // Those that have ended while the tunnel was read are missing: Prisma reads relations in statements of their own.
  const sessions: (typeof session | null)[] = [session, ...legs.map((leg) => leg.session)];
  return sessions.filter((one) => one !== null).sort((a, b) => a.leg - b.leg);
}

/** What is always selected of a session, and where a leg has it, as a query may ask more of it. */
const session = { select: { id: true, leg: true, nodeId: true } } as const;
const path = ['session'];

builder.prismaObjectField(Tunnel, 'legs', (t) =>
  t.field({
    type: [TunnelLeg],
    description: help,
    select: (_args, _context, nested) => ({
      session: nested(session, path),
      legs: { select: { session: nested(session, path) } },
    }),
    // The plugin does not know the type of what is selected at this level along with the query.
    resolve: (tunnel) => legsOf(tunnel as object as Served),
  }),
);

builder.prismaObjectField(Endpoint, 'legs', (t) =>
  t.field({
    type: [TunnelLeg],
    description: `${help} Empty when an edge serves it.`,
    select: (_args, _context, nested) => ({
      tunnel: {
        select: { session: nested(session, path), legs: { select: { session: nested(session, path) } } },
      },
    }),
    resolve: ({ tunnel }) => (tunnel ? legsOf(tunnel) : []),
  }),
);

builder.prismaObjectField(TunnelSession, 'tunnels', (t) =>
  t.field({
    type: [Tunnel],
    description: 'What the agent serves in this session, the newest first.',
    select: (_args, _context, nested) => ({ tunnels: nested(), legs: { select: { tunnel: nested() } } }),
    resolve: ({ tunnels, legs }) => {
      // One that has ended while the session was read is missing, as above.
      const others: ((typeof tunnels)[number] | null)[] = legs.map(({ tunnel }) => tunnel);
      return [...tunnels, ...others.filter((one) => one !== null)].sort((a, b) => (a.id < b.id ? 1 : -1));
    },
  }),
);

export const routes: Route[] = [];
