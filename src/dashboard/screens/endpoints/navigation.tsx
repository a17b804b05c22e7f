import { pathTo } from '../../data/routing/paths.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';

export interface EndpointTabsProps {
  /** The number of live endpoints; undefined until it is known. */
  live?: number;
  offline?: number;
}

export function EndpointTabs({ live, offline }: EndpointTabsProps) {
  const tabs = [
    { title: titleOf('Live', live), href: pathTo('endpoints') },
    { title: titleOf('Offline', offline), href: pathTo('endpoints', 'offline') },
  ];
  return <Tabs label="Endpoints" tabs={tabs} />;
}

function titleOf(name: string, count: number | undefined): string {
  return count === undefined ? name : `${name} (${count.toLocaleString('en')})`;
}

export const endpointCrumbs: Breadcrumb[] = [{ title: 'Endpoints', href: pathTo('endpoints') }];
