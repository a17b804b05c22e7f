// Agent ingresses: further names that agents connect to. Each is a reserved domain, with its certificate, for which the agent listener
// has one.

import { followPolicy } from '../../../store/certificates/managed-certificates.ts';
import type { Db } from '../../../store/database/client.ts';
import { asWritten } from '../../as-written.ts';
import { builder } from '../../builder/builder.ts';
import { Node } from '../../collections/collection.ts';
import { NOTED_MEMBERS, text } from '../../collections/members.ts';
import { rowFields } from '../../collections/notes.ts';
import { reference, typeOfKind } from '../../collections/references.ts';
import { resource } from '../../collections/resource.ts';
import type { Announce, Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll } from '../../errors/problems.ts';
import { NOTE_COLUMNS } from '../../resource.ts';
import { checkTexts } from '../../text-limits.ts';
import { changeCertificate } from './certificate-choice.ts';
import { CertificateManagementPolicy, CertificateManagementPolicyInput, type Policy } from './certificate-policy.ts';
import {
  CertificateManagementStatus,
  certificateSelection,
  type Managed,
  managedSelect,
} from './certificate-status.ts';
import { readDomainName } from './domain-name.ts';
import { reserveDomain } from './reserved-domains.ts';

const ROW = { prefix: 'agin', path: '/agent_ingresses' };

const NAME = { domain: { select: { domain: true, writtenDomain: true } } } as const;
const nameOf = ({ domain: { domain, writtenDomain } }: { domain: { domain: string; writtenDomain: string | null } }) =>
  asWritten(domain, writtenDomain, (name) => name.toLowerCase());

const AgentIngress = builder.prismaObject('AgentIngress', {
  description: 'A further name that agents connect to, with a certificate of its own.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    domain: t.string({
      description: 'The name, as it was written. Agents connect to it at the port of the agent listener.',
      select: NAME,
      resolve: nameOf,
    }),
    nsTargets: t.stringList({
      description: 'Name servers that the domain is to be delegated to: none, as the gateway has no names below it.',
      resolve: () => [],
    }),
    regionDomains: t.stringList({
      description: 'The names that agents connect to: the domain alone, which leads to every node of the gateway.',
      select: NAME,
      resolve: (ingress) => [nameOf(ingress)],
    }),
    reservedDomain: t.field({
      type: typeOfKind('reservedDomain'),
      description: 'The reserved domain that it is, which has its certificate.',
      nullable: true,
      select: { domainId: true },
      resolve: reference(({ domainId }) => domainId),
    }),
    certificateManagementPolicy: t.field({
      type: CertificateManagementPolicy,
      nullable: true,
      description: 'How its certificate is to be obtained, as of the reserved domain.',
      select: { domain: { select: { certificatePolicy: true } } },
      resolve: ({ domain }) => domain.certificatePolicy as Policy | null,
    }),
    certificateManagementStatus: t.field({
      type: CertificateManagementStatus,
      nullable: true,
      description: 'How far its certificate has come, as of the reserved domain.',
      select: { domain: { select: { managedCertificate: { select: managedSelect } } } },
      resolve: ({ domain }) => domain.managedCertificate as Managed | null,
    }),
  }),
});

const policyHelp =
  'How its certificate is to be obtained, as of the reserved domain. Below the gateway’s own base domain it must be left out.';

type PolicyInput = typeof CertificateManagementPolicyInput.$inferInput | null | undefined;

export const { routes } = resource({
  kind: 'agentIngress',
  model: 'AgentIngress',
  ...ROW,
  ref: AgentIngress,
  listKey: 'ingresses',
  shows: `id uri createdAt description metadata domain nsTargets regionDomains ${certificateSelection}`,
  members: { ...NOTED_MEMBERS, domain: text('domain', { through: [['domain']], otherwise: '' }) },
  audit: { name: 'agent_ingress', subject: 'An agent ingress' },
  conflicts: { taken: 'agentIngressTaken' },
  search: {
    ...{ rank: 87, table: 'agent_ingress', title: 'd.domain', detail: 't.description' },
    join: 'JOIN reserved_domain d ON d.id = t.domain_id',
    texts: ['d.domain', ...NOTE_COLUMNS],
  },
  create: {
    description:
      'Lets agents connect by a further name. The domain is reserved along with it, where your account has not reserved it yet. Fails ' +
      'with `CONFLICT` when another account has it.',
    input: (t) => ({
      domain: t.string({
        required: true,
        description: 'A full name such as `agents.example.com`, whose records lead to the gateway.',
      }),
      certificateManagementPolicy: t.field({ type: CertificateManagementPolicyInput, description: policyHelp }),
    }),
    async write({ domain: given, certificateManagementPolicy: policy, ...notes }, context) {
      const { domain } = checkAll({
        texts: () => checkTexts(notes),
        domain: () => readName(given, context),
      });
      const { db, accountId } = context;
      const own = await db.reservedDomain.findUnique({ where: { domain, accountId }, select: { id: true } });
      if (own && (await db.agentIngress.count({ where: { domainId: own.id } })) > 0)
        throw new ApiError('agentIngressTaken');
      // In a transaction of its own, after the checks: where the other one fails, the domain is there for the next try.
      const more = { domain: given, certificateManagementPolicy: policy };
      const { id: domainId } = own ?? (await reserveDomain({ select: { id: true } }, more, context));
      return async (save, tx, announce) => {
        if (own) await changePolicy(domainId, policy, { context, db: tx, announce });
        return save({ createdAt: new Date(context.app.now()), domainId });
      };
    },
  },
  update: {
    description: 'Changes what is noted of an agent ingress, and how its certificate is to be obtained.',
    note: 'The domain stays for good.',
    input: (t) => ({
      certificateManagementPolicy: t.field({ type: CertificateManagementPolicyInput, description: policyHelp }),
    }),
    write({ certificateManagementPolicy: policy }, context, id) {
      return async (save, db, announce) => {
        const where = { id, accountId: context.accountId };
        const row = await db.agentIngress.findUnique({ where, select: { domainId: true } });
        if (row) await changePolicy(row.domainId, policy, { context, db, announce });
        return save({});
      };
    },
  },
  remove: {
    description:
      'Lets agents connect by this name no more; sessions go on. Answers with its id. The domain stays reserved, and can be given up then.',
  },
});

/** @throws {ApiError} when it is no name, or stands for several. */
function readName(given: string, { app }: Context): string {
  const { domain, isWildcard } = readDomainName(given, app.config);
  if (isWildcard) throw new ApiError('agentIngressWildcard', { member: 'domain' });
  return domain;
}

async function changePolicy(
  domainId: string,
  policy: PolicyInput,
  { context, db, announce }: { context: Context; db: Db; announce: Announce },
): Promise<void> {
  if (policy == null) return;
  const data = await changeCertificate({ certificateManagementPolicy: policy }, domainId, context, db);
  await db.reservedDomain.update({ where: { id: domainId }, data, select: { id: true } });
  await followPolicy(db, announce, domainId, context.app.now());
  announce({ kind: 'reservedDomain', action: 'UPDATED', id: domainId, accountId: context.accountId });
}
