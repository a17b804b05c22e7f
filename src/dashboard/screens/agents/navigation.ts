// Where the pages of this screen are.

import { pathTo } from '../../data/routing/paths.ts';

export const operatorsPath = pathTo('agents', 'operators');

export const fleetTabs = [
  { title: 'Fleet', href: pathTo('agents') },
  { title: 'Sessions', href: pathTo('agents', 'sessions') },
  { title: 'Provisioning keys', href: pathTo('agents', 'keys') },
  { title: 'Kubernetes operators', href: operatorsPath },
];

export const agentCrumbs = [{ title: 'Agents', href: pathTo('agents') }];
export const provisioningCrumbs = [...agentCrumbs, { title: 'Provisioning keys', href: pathTo('agents', 'keys') }];
export const operatorCrumbs = [...agentCrumbs, { title: 'Kubernetes operators', href: operatorsPath }];

/** How an operator in a cluster of Kubernetes is called: by its deployment, or else its description or its id. */
export function operatorTitle({
  id,
  description,
  deployment: { namespace, name },
}: {
  id: string;
  description: string;
  deployment: { namespace: string; name: string };
}): string {
  return [namespace, name].filter((part) => part !== '').join('/') || description.trim() || id;
}
