// The page of a backend that is no tunnel group. It is changed with the API.

import type { ComponentChildren } from 'preact';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { ChoosingBackend, type ChoosingBackendQuery } from '../../../generated/operations.ts';
import { Page } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { NotYet } from '../detail-page.tsx';
import { listPaths } from '../navigation.ts';
import { BACKEND_NOUNS, CHOOSING_KINDS, isChoosing } from '../references/choosing-backends.ts';
import { useReferenceTitles } from '../references/references.ts';

const crumbs = [{ title: 'Tunnel groups', href: listPaths.backends }];

export function ChoosingBackendPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(ChoosingBackend, { id }, { kinds: CHOOSING_KINDS });
  const node = data?.node;
  const members = node ? memberIds(node) : [];
  const nameOf = useReferenceTitles(members);
  if (!node || !isChoosing(node)) return <NotYet title="Backend" crumbs={crumbs} error={error} refetch={refetch} />;
  const link = (member: string) => <a href={objectPath('tunnelGroupBackend', member)}>{nameOf(member)}</a>;
  const { description, createdAt, metadata } = node;
  return (
    <Page title={description || id} crumbs={crumbs}>
      <DescriptionList
        items={[
          { name: 'Kind', value: BACKEND_NOUNS[node.__typename] },
          ...contentOf(node, link),
          metadata !== '' && { name: 'Metadata', value: metadata },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
    </Page>
  );
}

type Node = NonNullable<ChoosingBackendQuery['node']>;

function memberIds(node: Node): readonly string[] {
  if (node.__typename === 'FailoverBackend') return node.order;
  return node.__typename === 'WeightedBackend' ? Object.keys(node.weights) : [];
}

function contentOf(node: Node, link: (id: string) => ComponentChildren) {
  switch (node.__typename) {
    case 'WeightedBackend':
      return Object.entries(node.weights).map(([id, weight]) => ({ name: `Weight ${weight}`, value: link(id) }));
    case 'FailoverBackend':
      return node.order.map((id, index) => ({ name: `Choice ${index + 1}`, value: link(id) }));
    case 'HttpResponseBackend':
      return [
        { name: 'Status', value: String(node.statusCode) },
        ...Object.entries(node.headers).map(([name, value]) => ({ name, value })),
        { name: 'Body', value: node.body || 'none' },
      ];
    case 'StaticBackend':
      return [
        { name: 'Address', value: <code>{node.address}</code> },
        { name: 'TLS', value: node.tls.enabled ? 'yes' : 'no' },
      ];
    default:
      return [];
  }
}
