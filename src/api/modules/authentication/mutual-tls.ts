// The mutual TLS module of an edge (specification sections 2.4 and 4.4).

import type { ModuleDescriptor } from '../../../edge/modules/descriptor.ts';
import { mutualTlsModule } from '../../../edge/modules/tls.ts';
import { storedModule } from '../../../store/edges/module-rows.ts';
import { builder } from '../../builder/builder.ts';
import { references, typeOfKind } from '../../collections/references.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkEach } from '../../errors/problems.ts';
import { httpsEdge, tlsEdge } from '../hosts.ts';
import type { ApiModule, ModuleHost, ModuleWrite } from '../module.ts';

const AUTHORITIES_MAX = 10;

interface Settings {
  enabled: boolean;
  authorityIds: string[];
}

const MutualTls = builder.objectRef<Settings>('MutualTls').implement({
  description: 'Lets in only visitors whose certificate one of these authorities has issued.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'Whether it acts on traffic.' }),
    certificateAuthorities: t.field({
      type: [typeOfKind('certificateAuthority')],
      description: 'The certificate authorities, in the order in which they were given.',
      resolve: references(({ authorityIds }) => authorityIds),
    }),
  }),
});

const MutualTlsInput = builder.inputType('MutualTlsInput', {
  description: 'The settings of mutual TLS.',
  fields: (t) => ({
    enabled: t.boolean({ description: 'Whether it acts on traffic. Default true.' }),
    certificateAuthorityIds: t.idList({ description: 'The ids of 1 to 10 certificate authorities of your account.' }),
  }),
});

type Input = typeof MutualTlsInput.$inferInput;

interface Selected {
  modules: unknown;
  authorities: { authorityId: string }[];
}

function mutualTlsOf(host: ModuleHost): ApiModule<Selected, Settings, Input> {
  return {
    host,
    descriptor: mutualTlsModule as ModuleDescriptor, // A list of descriptors holds many kinds.
    field: mutualTlsModule.key,
    noun: 'mutual TLS',
    select: { modules: true, authorities: { select: { authorityId: true }, orderBy: { position: 'asc' } } },
    type: MutualTls,
    input: MutualTlsInput,
    selection: 'enabled certificateAuthorities { id uri }',
    read(row) {
      const stored = storedModule(row, mutualTlsModule);
      return stored
        ? { enabled: stored.enabled, authorityIds: row.authorities.map(({ authorityId }) => authorityId) }
        : null;
    },
    async write(input, writing) {
      const ids = await checkAuthorities(input.certificateAuthorityIds ?? [], writing);
      const create = ids.map((authorityId, position) => ({ authorityId, position }));
      const modules = { [mutualTlsModule.key]: { enabled: input.enabled ?? true } };
      return { modules, relations: { authorities: { deleteMany: {}, create } } };
    },
    unset: { modules: { [mutualTlsModule.key]: null }, relations: { authorities: { deleteMany: {} } } },
  };
}

async function checkAuthorities(ids: string[], { context, db, ...place }: ModuleWrite): Promise<string[]> {
  const { accountId } = context;
  const member = `${place.member}certificateAuthorityIds`;
  if (ids.length === 0) throw new ApiError('authoritiesMissing', { member });
  if (ids.length > AUTHORITIES_MAX) throw new ApiError('tooManyAuthorities', { member, max: AUTHORITIES_MAX });
  const known = await db.certificateAuthority.findMany({ where: { id: { in: ids }, accountId }, select: { id: true } });
  checkEach(ids, (id, index) => {
    const place = { member: `${member}[${index}]` };
    if (!known.some((authority) => authority.id === id)) throw new ApiError('unknownAuthority', place);
    if (ids.indexOf(id) < index) throw new ApiError('authorityRepeated', place);
  });
  return ids;
}

export const mutualTlsOfHttpsEdge = mutualTlsOf(httpsEdge);
export const mutualTlsOfTlsEdge = mutualTlsOf(tlsEdge);
