// What HTTPS, TLS and TCP edges have in common. They are rows of one table.

import type { Db } from '../../../store/database/client.ts';
import { deleteEdgeEndpoints } from '../../../store/edges/edge-endpoints.ts';
import type { EdgeKind } from '../../../store/generated/prisma/enums.ts';
import { isId, newId } from '../../../store/ids.ts';
import { builder } from '../../builder/builder.ts';
import { bulkOperation } from '../../collections/bulk-operations.ts';
import type { DeleteMutationOptions } from '../../collections/collection.ts';
import { type ListMembers, NOTED_MEMBERS, relatedTexts } from '../../collections/members.ts';
import { deletedOf, mutation } from '../../collections/mutation.ts';
import type { Announce, Context } from '../../context.ts';
import { requireFound } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import {
  type AnyApiModule,
  checkModules,
  type ModuleHost,
  type ModuleWrite,
  moduleInputs,
  writeModules,
} from '../../modules/module.ts';
import { nounOf } from '../../naming.ts';
import { NOTE_COLUMNS, type SearchColumns } from '../../resource.ts';
import { checkTexts, type OwnerNotes } from '../../text-limits.ts';
import { writeHostports } from './hostports.ts';

const kinds = { httpsEdge: 'HTTPS', tlsEdge: 'TLS', tcpEdge: 'TCP' } as const satisfies Record<string, EdgeKind>;

interface Input extends OwnerNotes {
  hostports?: string[] | null;
}

type EdgeHost = ModuleHost & { kind: keyof typeof kinds };

/** Creates an edge with the modules that its input brings. */
export function createEdge(host: EdgeHost, modules: AnyApiModule[], context: Context, query: object, input: Input) {
  const { accountId } = context;
  return context.create(host, async (db, announce) => {
    const id = newId(host.prefix);
    await db.edge.create({ data: { id, accountId, kind: kinds[host.kind] }, select: { id: true } });
    return change(host, modules, { context, db, id }, announce, query, input);
  });
}

/** Changes what the input gives; the rest stays as it is. */
export function updateEdge(
  host: EdgeHost,
  modules: AnyApiModule[],
  context: Context,
  query: object,
  id: string,
  input: Input,
) {
  const { accountId } = context;
  return context.update(host, id, async (db, announce) => {
    const where = { id, accountId, kind: kinds[host.kind] };
    requireFound(await db.edge.findUnique({ where, select: { id: true } }), nounOf(host.kind));
    return change(host, modules, { context, db, id }, announce, query, input);
  });
}

async function change(
  host: EdgeHost,
  modules: AnyApiModule[],
  where: Omit<ModuleWrite, 'member'>,
  announce: Announce,
  query: object,
  input: Input,
) {
  const { context, db, id } = where;
  const { texts, hostports, ofModules } = await checkAll({
    texts: () => checkTexts(input),
    hostports: () => writeHostports(host.kind, input.hostports, context, db, id),
    ofModules: () => checkModules(modules, input, where),
  });
  const data = { ...texts, hostports, ...(await writeModules(host, ofModules, where)) };
  const row = await db.edge.update({ ...query, where: { id }, data });
  await host.afterWrite({ db, announce, baseUrl: context.baseUrl }, id);
  return row;
}

/** Adds the mutation that deletes a kind of edge, and with it what it served. */
export function edgeDeletion(
  host: EdgeHost,
  name: string,
  { description, cascade }: Pick<DeleteMutationOptions, 'cascade'> & { description: string },
): void {
  const deleteOne = (context: Context, id: string) => {
    const where = { id: isId(host.prefix, id) ? id : '', accountId: context.accountId, kind: kinds[host.kind] };
    const work = async (db: Db, announce: Announce) => {
      requireFound(await db.edge.findUnique({ where, select: { id: true } }), nounOf(host.kind));
      await deleteEdgeEndpoints({ db, announce, baseUrl: context.baseUrl }, id);
      await db.edge.delete({ where, select: { id: true } });
    };
    return context.remove(host, id, work, cascade);
  };
  bulkOperation(host.kind, 'DELETE', { apply: deleteOne });
  mutation(name, deletedOf(host.kind), (t) =>
    t.id({
      nullable: true,
      access: { kind: host.kind },
      description,
      args: { id: t.arg.id({ required: true, description: `The id of the ${nounOf(host.kind)}.` }) },
      resolve: async (_, { id }, context) => {
        await deleteOne(context, id);
        return id;
      },
    }),
  );
}

const NAMES =
  'The names it answers, each a reserved domain of your account and the port 443, as in `app.example.com:443`.';
const ADDRESSES =
  'The addresses it answers, each a reserved TCP address of your account, as in `gateway.example.com:20000`.';

const texts = {
  description: 'What it is for, for people; at most 255 bytes.',
  metadata: 'Anything, for machines; at most 4096 bytes.',
};

/** The inputs that create and change a kind of edge. */
export function edgeInputs(name: string, modules: AnyApiModule[], hostports = NAMES) {
  const create = builder.inputType(`Create${name}Input`, {
    description: 'A new edge. Every member may be left out.',
    fields: (t) => ({
      description: t.string({ description: texts.description }),
      metadata: t.string({ description: texts.metadata }),
      hostports: t.stringList({ description: hostports }),
      ...moduleInputs(t, modules),
    }),
  });
  const update = builder.inputType(`Update${name}Input`, {
    description: 'What to change; a member left out or null stays as it is.',
    fields: (t) => ({
      description: t.string({ description: `${texts.description} "" clears it.` }),
      metadata: t.string({ description: `${texts.metadata} "" clears it.` }),
      hostports: t.stringList({ description: `${hostports} Replaces the whole list.` }),
      ...moduleInputs(t, modules),
    }),
  });
  return { create, update };
}

/** The inputs of TCP edges, as `edgeInputs`. */
export const tcpEdgeInputs = (modules: AnyApiModule[]) => edgeInputs('TcpEdge', modules, ADDRESSES);

/** What lists of edges can be filtered and ordered by. */
export const EDGE_MEMBERS: ListMembers = {
  ...NOTED_MEMBERS,
  hostports: relatedTexts('hostports', 'hostport'),
};

const HOSTPORTS = `(SELECT string_agg(hostport, ', ' ORDER BY position) FROM edge_hostport WHERE edge_id = t.id)`;

/** Where the search finds the edges of one kind. */
export const edgeSearch = (rank: number, kind: EdgeKind): SearchColumns => ({
  ...{ rank, table: 'edge', title: HOSTPORTS, detail: 't.description', where: `t.kind = '${kind}'` },
  texts: [HOSTPORTS, ...NOTE_COLUMNS],
});
