// The operations of a module: it is read, replaced as a whole and unset, in GraphQL and REST.

import type { Db } from '../../store/database/client.ts';
import { writeStoredModules } from '../../store/edges/module-rows.ts';
import { isId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { mutation } from '../collections/mutation.ts';
import type { Context } from '../context.ts';
import { ApiError, requireFound } from '../errors/errors.ts';
import { nounOf, snakeCase } from '../naming.ts';
import { type Route, route } from '../route.ts';
import type { AnyApiModule, HostChange, ModuleHost } from './module.ts';

interface HostAddress {
  edgeId?: string;
  id: string;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Adds the root query and the two mutations of a module, and returns its REST rows. */
export function moduleOperations(module: AnyApiModule): Route[] {
  const { host, field, noun, type, selection } = module;
  const hostNoun = nounOf(host.kind);
  const name = `${host.kind}${capital(field)}`;
  const path = `${host.path}/${snakeCase(field)}`;
  const access = { kind: host.kind };

  const findHost = async (context: Context, db: Db, where: HostAddress): Promise<object> =>
    requireFound(
      isHostAddress(host, where) ? await host.find(db, scoped(context, where), { ...module.select, id: true }) : null,
      hostNoun,
    ) as object;

  const replace = async (
    context: Context,
    where: HostAddress,
    change: (db: Db) => Promise<HostChange> | HostChange,
  ): Promise<object> => {
    let row: object | undefined;
    await context.update(host, where.id, async (db, announce) => {
      await findHost(context, db, where);
      const { modules, relations } = await change(db);
      if (modules) await writeStoredModules(db, host.table, where.id, modules);
      if (relations) await host.update(db, where.id, relations);
      await host.afterWrite({ db, announce, baseUrl: context.baseUrl }, where.id);
      row = await findHost(context, db, where);
      return { id: where.id };
    });
    return requireFound(row, hostNoun);
  };

  const requireSet = (settings: object | null) => {
    if (settings === null) throw new ApiError('moduleNotSet', { kind: noun });
    return settings;
  };

  builder.queryField(name, (t) =>
    t.field({
      type,
      nullable: true,
      access,
      description: `The ${noun} module of this ${hostNoun}. Fails with \`NOT_FOUND\` when it is not set.`,
      args: hostArguments(host),
      resolve: async (_, where, context) =>
        requireSet(module.read(await findHost(context, context.db, where as HostAddress))),
    }),
  );
  const parent = { [host.kind]: { kind: host.kind, description: `The ${hostNoun} as it is now.` } };
  mutation(`replace${capital(name)}`, { gives: [field, `The ${noun} module as it is now.`], objects: parent }, (t) =>
    t.field({
      type,
      nullable: true,
      access,
      weight: FEW_PER_DOCUMENT, // Policies are compiled, passwords hashed.
      description: `Sets the ${noun} module of this ${hostNoun}. It replaces the whole module: members left out take their defaults.`,
      args: {
        ...hostArguments(host),
        input: t.arg({ type: module.input, required: true, description: 'The module.' }),
      },
      resolve: async (_, { input, ...where }, context) => {
        const { id } = where as HostAddress;
        const write = (db: Db) => module.write(input, { context, db, id, member: '' });
        const settings = requireSet(module.read(await replace(context, where as HostAddress, write)));
        return module.showOnce?.(settings, input) ?? settings;
      },
    }),
  );
  mutation(`delete${capital(name)}`, { objects: parent }, (t) =>
    t.id({
      nullable: true,
      access,
      description: `Unsets the ${noun} module of this ${hostNoun}; it is no error when it is not set. Answers with the id of the ${hostNoun}.`,
      args: hostArguments(host),
      resolve: async (_, where, context) => {
        await replace(context, where as HostAddress, () => module.unset);
        return (where as HostAddress).id;
      },
    }),
  );
  return [
    // A client in wide use sends the module so, beside the ids of the path.
    route('PUT', path, 200, `replace${capital(name)}`, selection, { extended: { wrapper: 'module' } }),
    route('GET', path, 200, name, selection),
    route('DELETE', path, 204, `delete${capital(name)}`),
  ];
}

const ofEdge = builder.args((t) => ({ id: t.id({ required: true, description: 'The id of the edge.' }) }));
const ofRoute = builder.args((t) => ({
  edgeId: t.id({ required: true, description: 'The id of the HTTPS edge.' }),
  id: t.id({ required: true, description: 'The id of the route.' }),
}));

function hostArguments(host: ModuleHost): typeof ofEdge | typeof ofRoute {
  return host.hasEdge ? ofRoute : ofEdge;
}

function isHostAddress(host: ModuleHost, { id, edgeId }: HostAddress): boolean {
  return isId(host.prefix, id) && (!host.hasEdge || isId('edghts', edgeId ?? ''));
}

function scoped({ accountId }: Context, { id, edgeId }: HostAddress): HostAddress & { accountId: string } {
  return edgeId === undefined ? { id, accountId } : { id, edgeId, accountId };
}
