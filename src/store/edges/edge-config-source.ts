// The configuration of the data plane: the edges of accounts and the certificates of their domains, and a notification of every
// change to them.

import type { DomainCertificate, EdgeConfig, EdgeConfigSource } from '../../edge/edges/edge-config.ts';
import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import { type ChallengeScope, findChallenge, findChallengeHolder } from '../certificates/challenges.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import { isId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import { openPrivateKey } from '../keys/private-keys.ts';
import { affectedEdges, OwnerIndex } from './affected-edges.ts';
import { readBackendNodes } from './backend-nodes.ts';
import { choosingBackendsOf, edgeConfig, edgeSelect, type PolicyRules, policyIdsOf } from './edge-rows.ts';

/** The most edges that one query reads. */
const BATCH = 500;

/** The kinds of objects that the configuration is made of, and the prefixes of their ids. */
const ID_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['httpsEdge', 'edghts'],
  ['httpsEdgeRoute', 'edghtsrt'],
  ['tlsEdge', 'edgtls'],
  ['tcpEdge', 'edgtcp'],
  ['cloudEndpoint', 'edgcld'],
  ['tunnelGroupBackend', 'bkdtg'],
  ['weightedBackend', 'bkdwd'],
  ['failoverBackend', 'bkdfo'],
  ['httpResponseBackend', 'bkdhr'],
  ['staticBackend', 'bkdsc'],
  ['certificateAuthority', 'ca'],
  ['ipPolicy', 'ipp'],
  ['ipPolicyRule', 'ipr'],
  ['tlsCertificate', 'cert'],
  ['reservedDomain', 'rd'],
  ['agentIngress', 'agin'],
]);

export interface EdgeConfigSourceOptions {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  descriptors: readonly ModuleDescriptor[];
  scope: ChallengeScope;
  /** Called for each stored object that cannot be read. The rest is loaded. */
  onFailure(id: string, error: unknown): void;
}

/** Loaded edges, and the ids that belong to them and to their policies. */
interface LoadedEdges {
  edges: EdgeConfig[];
  owners: Map<string, string[]>;
}

export function edgeConfigSource({
  prisma,
  changes,
  keys,
  descriptors,
  scope,
  onFailure,
}: EdgeConfigSourceOptions): EdgeConfigSource {
  const owners = new OwnerIndex();

  // The queries do not share a snapshot. That is safe: a write waits until loading is done, and causes another one.
  async function readEdges(id: object, into: LoadedEdges): Promise<number> {
    const where = { id, OR: [{ hostports: { some: {} } }, { cloudUrl: { isNot: null } }] };
    const rows = await prisma.edge.findMany({ where, orderBy: { id: 'asc' }, take: BATCH, select: edgeSelect });
    const policyIds = [...new Set(rows.flatMap(policyIdsOf))];
    const select = { id: true, policyId: true, action: true, cidr: true } as const;
    const ruleWhere = { policyId: { in: policyIds } };
    const rules = await prisma.ipPolicyRule.findMany({ where: ruleWhere, orderBy: { id: 'asc' }, select });
    const backends = await readBackendNodes(prisma, rows.flatMap(choosingBackendsOf));
    const policies = new Map<string, PolicyRules>();
    for (const id of policyIds) into.owners.set(id, []);
    for (const { id, policyId, action, cidr } of rules) {
      const policy = policies.get(policyId) ?? { allow: [], deny: [] };
      policies.set(policyId, policy);
      (action === 'ALLOW' ? policy.allow : policy.deny).push(cidr);
      into.owners.get(policyId)?.push(id);
    }
    for (const row of rows) {
      into.edges.push(edgeConfig(row, { policies, backends, keys, descriptors }));
      into.owners.set(
        row.id,
        row.routes.map(({ id }) => id),
      );
    }
    return rows.length;
  }

  async function readAll(): Promise<LoadedEdges> {
    const read: LoadedEdges = { edges: [], owners: new Map() };
    for (let after = ''; (await readEdges({ gt: after }, read)) === BATCH; ) after = read.edges.at(-1)?.id ?? '';
    return read;
  }

  async function readNamed(ids: readonly string[]): Promise<LoadedEdges> {
    // Edges that were deleted, or have no hostport any more, own nothing.
    const read: LoadedEdges = { edges: [], owners: new Map(ids.map((id) => [id, []])) };
    for (let at = 0; at < ids.length; at += BATCH) await readEdges({ in: ids.slice(at, at + BATCH) }, read);
    return read;
  }

  async function readCertificates(where: object): Promise<DomainCertificate[]> {
    const rows = await prisma.reservedDomain.findMany({
      where: { ...where, certificateId: { not: null } },
      select: {
        id: true,
        domain: true,
        certificate: { select: { id: true, accountId: true, certificatePem: true, privateKey: true, notAfter: true } },
      },
    });
    return rows.flatMap(({ id: domainId, domain, certificate }) => {
      if (!certificate) return [];
      try {
        const { accountId, certificatePem: cert } = certificate;
        const notAfter = certificate.notAfter.getTime();
        return { domainId, accountId, domain, cert, key: openPrivateKey(keys, certificate), notAfter };
      } catch (error) {
        onFailure(certificate.id, error);
        return [];
      }
    });
  }

  /** Those of the gateway's own names. */
  async function readOwn(where: object): Promise<DomainCertificate[]> {
    const rows = await prisma.tlsCertificate.findMany({ where: { ...where, accountId: '' } });
    return rows.flatMap((row) => {
      try {
        const { id: domainId, certificatePem: cert } = row;
        const notAfter = row.notAfter.getTime();
        const common = { domainId, accountId: '', cert, key: openPrivateKey(keys, row), notAfter };
        return row.dnsNames.map((domain) => ({ ...common, domain }));
      } catch (error) {
        onFailure(row.id, error);
        return [];
      }
    });
  }

  async function readAgentNames(): Promise<string[]> {
    const rows = await prisma.agentIngress.findMany({ select: { domain: { select: { domain: true } } } });
    return rows.map(({ domain: { domain } }) => domain);
  }

  return {
    async load(ids) {
      const edgeIds = ids && (await affectedEdges(prisma, ids, owners));
      const { edges, owners: read } = edgeIds ? await readNamed(edgeIds) : await readAll();
      const named = ids?.filter((id) => isId('rd', id) || isId('cert', id));
      const certificates =
        named?.length === 0
          ? []
          : [
              ...(await readCertificates(
                named ? { OR: [{ id: { in: named } }, { certificateId: { in: named } }] } : {},
              )),
              ...(await readOwn(named ? { id: { in: named } } : {})),
            ];
      return {
        edgeIds,
        edges,
        domainIds: named ? [...named, ...certificates.map(({ domainId }) => domainId)] : null,
        certificates,
        agentNames: ids?.every((id) => !isId('agin', id)) ? undefined : await readAgentNames(),
        applied() {
          if (!ids) owners.clear();
          for (const [owner, own] of read) owners.set(owner, own);
        },
      };
    },

    findChallenge: (request) => findChallenge(prisma, request),
    challengeHolder: (name) => findChallengeHolder(prisma, name, scope),

    onChange(listener) {
      const stops = [
        changes.follow(async (changed) => {
          const parts = changed.filter(({ kind }) => ID_PREFIXES.has(kind));
          // An announcement without a valid id may be about any object.
          const isNamed = parts.every(({ kind, id }) => isId(ID_PREFIXES.get(kind) ?? '', id));
          if (parts.length > 0) await listener(isNamed ? [...new Set(parts.map(({ id }) => id))] : null);
        }),
        changes.onGap(() => void listener(null)),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
