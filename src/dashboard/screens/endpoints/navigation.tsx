import { useQuery } from '../../data/hooks/use-query.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { EndpointCounts } from '../../generated/operations.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';

/** The lists of endpoints with their lengths. */
export function EndpointTabs() {
  const { data } = useQuery(EndpointCounts, {}, { kinds: ['endpoint', 'offlineEndpoint'] });
  const counts = data?.endpointCounts ?? undefined;
  const tabs = [
    { title: titleOf('Online', counts && counts.live + counts.failing), href: pathTo('endpoints') },
    { title: titleOf('Failing', counts?.failing), href: pathTo('endpoints', 'failing') },
    { title: titleOf('Offline', counts?.offline), href: pathTo('endpoints', 'offline') },
    {
      title: titleOf('All', counts && counts.live + counts.failing + counts.offline),
      href: pathTo('endpoints', 'all'),
    },
  ];
  return <Tabs label="Endpoints" tabs={tabs} />;
}

function titleOf(name: string, count: number | undefined): string {
  return count === undefined ? name : `${name} (${count.toLocaleString('en')})`;
}

export const endpointCrumbs: Breadcrumb[] = [{ title: 'Endpoints', href: pathTo('endpoints') }];
