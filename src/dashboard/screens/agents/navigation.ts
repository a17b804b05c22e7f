// Where the pages of this screen are.

import { pathTo } from '../../data/routing/paths.ts';

export const fleetTabs = [
  { title: 'Fleet', href: pathTo('agents') },
  { title: 'Sessions', href: pathTo('agents', 'sessions') },
  { title: 'Provisioning keys', href: pathTo('agents', 'keys') },
];

export const agentCrumbs = [{ title: 'Agents', href: pathTo('agents') }];
export const provisioningCrumbs = [...agentCrumbs, { title: 'Provisioning keys', href: pathTo('agents', 'keys') }];
