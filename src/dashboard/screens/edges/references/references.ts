// The objects that modules refer to: backends, IP policies and certificate authorities.

import { type LiveList, useList } from '../../../data/hooks/use-list.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import {
  Authorities,
  Backends,
  ChoosingBackends,
  IpPolicies,
  ReferenceTitles,
  type ReferenceTitlesQuery,
} from '../../../generated/operations.ts';
import { labelsText } from '../labels.tsx';
import { listPaths } from '../navigation.ts';
import { backendTitle, CHOOSING_KINDS, isChoosing, type NamedBackend } from './choosing-backends.ts';

/** An object to select. */
export interface ReferenceOption {
  id: string;
  title: string;
}

export interface ReferenceType {
  /** The kind, as in the change feed. */
  kind: string;
  /** The name of the kind within a sentence. */
  noun: string;
  /** The path of the list of all objects. */
  listPath: string;
  /** All objects, the newest first. */
  useOptions: () => LiveList<ReferenceOption>;
}

/** Where traffic goes: a tunnel group, or the newest hundred backends of each other kind. */
export const backendReference: ReferenceType = {
  kind: 'tunnelGroupBackend',
  noun: 'backend',
  listPath: listPaths.backends,
  useOptions() {
    const groups = useList(
      Backends,
      {},
      ({ tunnelGroupBackends: page }) =>
        page && { ...page, nodes: page.nodes.map(({ id, ...rest }) => ({ id, title: groupTitle(rest) })) },
      { kinds: ['tunnelGroupBackend'] },
    );
    const { data } = useQuery(ChoosingBackends, {}, { kinds: CHOOSING_KINDS });
    const { weightedBackends, failoverBackends, httpResponseBackends, staticBackends } = data ?? {};
    const pages: ({ nodes: readonly NamedBackend[] } | null | undefined)[] = [
      weightedBackends,
      failoverBackends,
      httpResponseBackends,
      staticBackends,
    ];
    const others = pages.flatMap((page) => page?.nodes ?? []);
    return { ...groups, rows: [...groups.rows, ...others.map((node) => ({ id: node.id, title: backendTitle(node) }))] };
  },
};

export const ipPolicyReference: ReferenceType = {
  kind: 'ipPolicy',
  noun: 'IP policy',
  listPath: listPaths.ipPolicies,
  useOptions: () =>
    useList(
      IpPolicies,
      {},
      ({ ipPolicies: page }) =>
        page && { ...page, nodes: page.nodes.map(({ id, description }) => ({ id, title: description || id })) },
      { kinds: ['ipPolicy'] },
    ),
};

export const certificateAuthorityReference: ReferenceType = {
  kind: 'certificateAuthority',
  noun: 'certificate authority',
  listPath: listPaths.authorities,
  useOptions: () =>
    useList(
      Authorities,
      {},
      ({ certificateAuthorities: page }) =>
        page && { ...page, nodes: page.nodes.map((row) => ({ id: row.id, title: authorityTitle(row) })) },
      { kinds: ['certificateAuthority'] },
    ),
};

export function groupTitle({ description, labels }: { description: string; labels: Record<string, string> }): string {
  const text = labelsText(labels);
  return description ? `${description} (${text})` : text;
}

export function authorityTitle(authority: { id: string; description: string; subjectCommonName: string }): string {
  return authority.description || authority.subjectCommonName || authority.id;
}

/**
 * Loads the display names of objects.
 * @returns a function from the id to the name, or to the id while it is loading.
 */
export function useReferenceTitles(ids: readonly string[]): (id: string) => string {
  const kinds = [backendReference.kind, ...CHOOSING_KINDS, ipPolicyReference.kind, certificateAuthorityReference.kind];
  const wanted = [...new Set(ids)].slice(0, 100);
  const { data } = useQuery(
    ReferenceTitles,
    { ids: wanted },
    { kinds, keepPreviousData: true, skip: wanted.length === 0 },
  );
  return (id) => {
    const node = data?.nodes?.find((node) => node?.id === id);
    return (node && titleOf(node)) || id;
  };
}

type Node = NonNullable<NonNullable<ReferenceTitlesQuery['nodes']>[number]>;

function titleOf(node: Node): string | undefined {
  if (node.__typename === 'TunnelGroupBackend') return groupTitle(node);
  if (node.__typename === 'CertificateAuthority') return authorityTitle(node);
  if (isChoosing(node)) return backendTitle(node);
  return node.__typename === 'IpPolicy' ? node.description : undefined;
}
