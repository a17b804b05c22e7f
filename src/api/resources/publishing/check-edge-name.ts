// Whether an edge can have a name, asked while it is typed. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Route } from '../../route.ts';
import { ReservedDomain } from '../domains/reserved-domains.ts';
import { type EdgeName, readEdgeName } from './edge-name.ts';

interface Check {
  name: EdgeName | undefined;
  problem: string | null;
}

const EdgeNameCheck = builder.objectRef<Check>('EdgeNameCheck').implement({
  description: 'Whether an edge can have a name, and what that takes.',
  fields: (t) => ({
    host: t.string({
      nullable: true,
      description: 'The name as it is stored: in lower case, with `xn--` for other scripts. Null when it is no name.',
      resolve: ({ name }) => name?.domain,
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why an edge cannot have it now; null when it can.',
    }),
    reservedDomain: t.prismaField({
      type: ReservedDomain,
      nullable: true,
      description: 'The domain of your account that the name comes under; null when it would have to be reserved.',
      resolve: (query, { name }, _, { db, accountId }) =>
        name?.domainId ? db.reservedDomain.findUnique({ ...query, where: { id: name.domainId, accountId } }) : null,
    }),
    needsDns: t.boolean({
      description:
        'Whether its DNS must have a record that leads to the gateway: `cnameTarget` of its domain, once it is reserved. ' +
        'Names below the gateway’s own base domain need none.',
      resolve: ({ name }) => name !== undefined && !name.isOurs,
    }),
  }),
});

builder.queryField('checkEdgeName', (t) =>
  t.field({
    type: EdgeNameCheck,
    nullable: true,
    access: { kind: null },
    weight: FEW_PER_DOCUMENT,
    description:
      'Whether an edge can have a name now, and whether `publishEdge` would reserve it first. Nothing is held.',
    args: { host: t.arg.string({ required: true, description: 'A name, as `app.example.com`.' }) },
    resolve: async (_, { host }, context): Promise<Check> => {
      try {
        return { name: await readEdgeName(host, context), problem: null };
      } catch (error) {
        if (!(error instanceof ApiError) || error.parameters.member === undefined) throw error;
        return { name: undefined, problem: error.message };
      }
    },
  }),
);

/** There is no REST path for it. */
export const routes: Route[] = [];
