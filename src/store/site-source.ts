// What is configured for the public side: the edges of accounts and the certificates of their domains, as the data plane
// wants them, and word of every change to them.

import type { DomainCertificate, EdgeConfig, SiteSource } from '../edge/sites/source.ts';
import type { Changes } from './changes.ts';
import type { PrismaClient } from './client.ts';
import type { Keys } from './keys.ts';
import { edgeConfig, edgeSelect, type PolicyRules, policyIdsOf } from './site-rows.ts';
import { openPrivateKey } from './tls-certificate.ts';

/** Edges that are read at once. */
const BATCH = 500;

/** The kinds of objects that it is made of. */
const KINDS = new Set([
  'httpsEdge',
  'httpsEdgeRoute',
  'tlsEdge',
  'tunnelGroupBackend',
  'certificateAuthority',
  'ipPolicy',
  'ipPolicyRule',
  'tlsCertificate',
  'reservedDomain',
]);

export interface SiteSourceParts {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  /** Told of what was stored and cannot be read; the rest is loaded. */
  onFailure(id: string, error: unknown): void;
}

export function siteSource({ prisma, changes, keys, onFailure }: SiteSourceParts): SiteSource {
  // Not in one view of the database: whoever changes something meanwhile waits for this to end, and has it read again.
  async function edgesAfter(after: string, accounts: object): Promise<EdgeConfig[]> {
    const where = { ...accounts, id: { gt: after }, hostports: { some: {} } };
    const rows = await prisma.edge.findMany({ where, orderBy: { id: 'asc' }, take: BATCH, select: edgeSelect });
    const policyId = { in: [...new Set(rows.flatMap(policyIdsOf))] };
    const select = { policyId: true, action: true, cidr: true } as const;
    const rules = await prisma.ipPolicyRule.findMany({ where: { policyId }, orderBy: { id: 'asc' }, select });
    const policies = new Map<string, PolicyRules>();
    for (const { policyId, action, cidr } of rules) {
      const policy = policies.get(policyId) ?? { allow: [], deny: [] };
      policies.set(policyId, policy);
      (action === 'ALLOW' ? policy.allow : policy.deny).push(cidr);
    }
    return rows.map((row) => edgeConfig(row, policies, keys));
  }

  async function certificatesOf(accounts: object): Promise<DomainCertificate[]> {
    const rows = await prisma.reservedDomain.findMany({
      where: { ...accounts, certificateId: { not: null } },
      select: {
        domain: true,
        certificate: { select: { id: true, accountId: true, certificatePem: true, privateKey: true } },
      },
    });
    return rows.flatMap(({ domain, certificate }) => {
      if (!certificate) return [];
      try {
        const { accountId, certificatePem: cert } = certificate;
        return { accountId, domain, cert, key: openPrivateKey(keys, certificate) };
      } catch (error) {
        onFailure(certificate.id, error);
        return [];
      }
    });
  }

  return {
    async load(accountIds) {
      const accounts = accountIds ? { accountId: { in: [...accountIds] } } : {};
      const edges: EdgeConfig[] = [];
      for (let after = ''; ; ) {
        const batch = await edgesAfter(after, accounts);
        edges.push(...batch);
        if (batch.length < BATCH) break;
        after = batch.at(-1)?.id ?? '';
      }
      return { edges, certificates: await certificatesOf(accounts) };
    },

    onChange(listener) {
      const stops = [
        changes.follow(async (changed) => {
          const accounts = new Set(changed.flatMap(({ kind, accountId }) => (KINDS.has(kind) ? accountId : [])));
          if (accounts.size > 0) await listener([...accounts]);
        }),
        changes.onGap(() => void listener(null)),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
