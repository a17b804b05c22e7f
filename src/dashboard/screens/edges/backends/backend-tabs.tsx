import { Tabs } from '../../../ui/layout/tabs.tsx';
import { listPaths, tabs } from '../navigation.ts';

const backendTabs = [
  { title: 'Tunnel groups', href: listPaths.backends },
  { title: 'Weighted', href: listPaths.weighted },
  { title: 'Failover', href: listPaths.failover },
  { title: 'HTTP responses', href: listPaths.responses },
  { title: 'Static', href: listPaths.static },
];

/** The lists of this screen, and below them those of each kind of backend. */
export function BackendTabs() {
  return (
    <>
      <Tabs label="Edges and what they use" tabs={tabs} />
      <Tabs label="Kinds of backends" tabs={backendTabs} />
    </>
  );
}
