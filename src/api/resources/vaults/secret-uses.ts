// Which policies of an account read its secrets, found in their texts.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type StoredPolicy, trafficPolicyModule } from '../../../edge/modules/traffic-policy.ts';
import type { SecretName } from '../../../policy/cel/secret-names.ts';
import { readPolicyDocument } from '../../../policy/settings/policy-text.ts';
import { openModule } from '../../../store/edges/module-secrets.ts';
import { Prisma } from '../../../store/generated/prisma/client.ts';
import type { ObjectRow } from '../../builder/builder.ts';
import type { Context } from '../../context.ts';

/** The most policies that are looked through for one request. */
const POLICIES_MAX = 1000;

/** A policy has none. */
const NO_REFERENCES = { ipPolicies: [], authorities: [] };

interface PolicyRow {
  id: string;
  kind: 'ROUTE' | 'HTTPS' | 'TLS' | 'TCP' | 'CLOUD';
  /** Of a route its edge; of a cloud endpoint's edge the endpoint. */
  parent: string | null;
  policy: StoredPolicy;
}

/** A route is named by its id and that of its edge, of which its URI is made. */
type PolicyHost = ObjectRow & { edgeId?: string | null };

interface PolicyUses {
  host: PolicyHost;
  secrets: readonly SecretName[];
}

const loads = new WeakMap<Context, Promise<PolicyUses[]>>();

/** The routes, edges and cloud endpoints whose policies read a secret. The policies of tunnels are with their agents. */
export async function usesOfSecret(context: Context, { vault, name }: SecretName): Promise<PolicyHost[]> {
  const load = loads.get(context) ?? loadUses(context);
  loads.set(context, load);
  return (await load)
    .filter(({ secrets }) => secrets.some((use) => use.vault === vault && use.name === name))
    .map(({ host }) => host);
}

async function loadUses({ db, accountId, app }: Context): Promise<PolicyUses[]> {
  const policy = Prisma.sql`modules -> ${trafficPolicyModule.key}::text`;
  // Of a policy with secrets of its own, what was written in their places is encrypted.
  const isCandidate = Prisma.sql`(${policy} ->> 'masked' IS NOT NULL OR ${policy} ->> 'value' LIKE '%secrets%')`;
  const rows = await db.$queryRaw<PolicyRow[]>`
    SELECT id, 'ROUTE' AS kind, edge_id AS parent, ${policy} AS policy FROM route
      WHERE account_id = ${accountId} AND ${isCandidate}
    UNION ALL
    SELECT id, kind::text, (SELECT min(endpoint.id) FROM endpoint WHERE endpoint.edge_id = edge.id), ${policy} FROM edge
      WHERE account_id = ${accountId} AND ${isCandidate}
    LIMIT ${POLICIES_MAX}`;
  const found: PolicyUses[] = [];
  for (const { id, kind, parent, policy: stored } of rows) {
    const owner = { table: kind === 'ROUTE' ? ('route' as const) : ('edge' as const), id, accountId };
    const opened = openModule(app.keys, owner, trafficPolicyModule, stored);
    const secrets = secretsIn(trafficPolicyModule.resolve?.(opened, NO_REFERENCES).value ?? '');
    if (secrets.length > 0) found.push({ host: hostOf(id, kind, parent), secrets });
    await nextTurn(); // A policy may take a few milliseconds to read.
  }
  return found;
}

function hostOf(id: string, kind: PolicyRow['kind'], parent: string | null): PolicyHost {
  if (kind === 'ROUTE') return { id, edgeId: parent };
  return { id: kind === 'CLOUD' && parent ? parent : id };
}

const TEXT = String.raw`("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`;
const READ = new RegExp(String.raw`\bsecrets\s*\.\s*get\s*\(\s*${TEXT}\s*,\s*${TEXT}\s*\)`, 'g');

function secretsIn(text: string): SecretName[] {
  return textsIn(readPolicyDocument(text)).flatMap((expression) =>
    [...expression.matchAll(READ)].map(([, vault = '', name = '']) => ({
      vault: unquoted(vault),
      name: unquoted(name),
    })),
  );
}

/** All texts in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** A literal of CEL as the text that it stands for; of its escapes, those of quotes and backslashes. */
const unquoted = (literal: string) => literal.slice(1, -1).replace(/\\(["'\\])/g, '$1');
