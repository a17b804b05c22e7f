// The operations of a module: it is read, replaced as a whole and unset, in GraphQL and REST.

import type { Db } from '../../store/database/client.ts';
import { writeStoredModules } from '../../store/edges/module-rows.ts';
import { isId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { FEW } from '../builder/field-cost.ts';
import type { Context } from '../context.ts';
import { ApiError, found } from '../errors/errors.ts';
import { nounOf, snakeCase } from '../naming.ts';
import { type Route, route } from '../route.ts';
import type { AnyModule, Host, HostChange } from './module.ts';

interface Place {
  edgeId?: string;
  id: string;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Adds the root query and the two mutations of a module, and returns its REST rows. */
export function hostedModule(module: AnyModule): Route[] {
  const { host, field, noun, type, selection } = module;
  const place = nounOf(host.kind);
  const name = `${host.kind}${capital(field)}`;
  const path = `${host.path}/${snakeCase(field)}`;

  const look = async (context: Context, db: Db, where: Place): Promise<object> =>
    found(
      isPlace(host, where) ? await host.find(db, scoped(context, where), { ...module.select, id: true }) : null,
      place,
    ) as object;

  const replace = async (
    context: Context,
    where: Place,
    change: (db: Db) => Promise<HostChange> | HostChange,
  ): Promise<object> => {
    let row: object | undefined;
    await context.write(host, 'UPDATED', async (db, announce) => {
      await look(context, db, where);
      const { modules, relations } = await change(db);
      if (modules) await writeStoredModules(db, host.table, where.id, modules);
      if (relations) await host.update(db, where.id, relations);
      await host.settle({ db, announce, baseUrl: context.baseUrl }, where.id);
      row = await look(context, db, where);
      return { id: where.id };
    });
    return found(row, place);
  };

  const set = (settings: object | null) => {
    if (settings === null) throw new ApiError('moduleNotSet', { thing: noun });
    return settings;
  };

  builder.queryField(name, (t) =>
    t.field({
      type,
      nullable: true,
      description: `The ${noun} module of this ${place}. Fails with \`NOT_FOUND\` when it is not set.`,
      args: placeArguments(host),
      resolve: async (_, where, context) => set(module.read(await look(context, context.db, where as Place))),
    }),
  );
  builder.mutationField(`replace${capital(name)}`, (t) =>
    t.field({
      type,
      nullable: true,
      extensions: FEW, // Policies are compiled, passwords hashed.
      description: `Sets the ${noun} module of this ${place}. It replaces the whole module: members left out take their defaults.`,
      args: {
        ...placeArguments(host),
        input: t.arg({ type: module.input, required: true, description: 'The module.' }),
      },
      resolve: async (_, { input, ...where }, context) => {
        const { id } = where as Place;
        const write = (db: Db) => module.write(input, { context, db, id, member: '' });
        const settings = set(module.read(await replace(context, where as Place, write)));
        return module.shown?.(settings, input) ?? settings;
      },
    }),
  );
  builder.mutationField(`delete${capital(name)}`, (t) =>
    t.id({
      nullable: true,
      description: `Unsets the ${noun} module of this ${place}; it is no error when it is not set. Answers with the id of the ${place}.`,
      args: placeArguments(host),
      resolve: async (_, where, context) => {
        await replace(context, where as Place, () => module.unset);
        return (where as Place).id;
      },
    }),
  );
  return [
    route('PUT', path, 200, `replace${capital(name)}`, selection),
    route('GET', path, 200, name, selection),
    route('DELETE', path, 204, `delete${capital(name)}`),
  ];
}

const ofEdge = builder.args((t) => ({ id: t.id({ required: true, description: 'The id of the edge.' }) }));
const ofRoute = builder.args((t) => ({
  edgeId: t.id({ required: true, description: 'The id of the HTTPS edge.' }),
  id: t.id({ required: true, description: 'The id of the route.' }),
}));

function placeArguments(host: Host): typeof ofEdge | typeof ofRoute {
  return host.hasEdge ? ofRoute : ofEdge;
}

function isPlace(host: Host, { id, edgeId }: Place): boolean {
  return isId(host.prefix, id) && (!host.hasEdge || isId('edghts', edgeId ?? ''));
}

function scoped({ accountId }: Context, { id, edgeId }: Place): object {
  return edgeId === undefined ? { id, accountId } : { id, edgeId, accountId };
}
