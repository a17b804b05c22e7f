// The paths, tabs and breadcrumbs of this screen.

import { pathTo } from '../../data/routing/paths.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const listPaths = {
  domains: pathTo('domains'),
  addresses: pathTo('domains', 'addresses'),
  certificates: pathTo('domains', 'certificates'),
  ingresses: pathTo('domains', 'ingresses'),
};

export const newAddressPath = pathTo('domains', 'addresses', 'new');
export const newIngressPath = pathTo('domains', 'ingresses', 'new');

export const tabs: readonly Tab[] = [
  { title: 'Domains', href: listPaths.domains },
  { title: 'TCP addresses', href: listPaths.addresses },
  { title: 'Certificates', href: listPaths.certificates },
  { title: 'Agent ingresses', href: listPaths.ingresses },
];

export const domainCrumbs: Breadcrumb[] = [{ title: 'Domains', href: listPaths.domains }];
export const addressCrumbs: Breadcrumb[] = [...domainCrumbs, { title: 'TCP addresses', href: listPaths.addresses }];
export const ingressCrumbs: Breadcrumb[] = [...domainCrumbs, { title: 'Agent ingresses', href: listPaths.ingresses }];
export const certificateCrumbs: Breadcrumb[] = [
  ...domainCrumbs,
  { title: 'Certificates', href: listPaths.certificates },
];

/** The display name of a certificate. */
export function certificateTitle(certificate: {
  id: string;
  description: string;
  subjectCommonName: string;
  subjectAlternativeNames: { dnsNames: readonly string[] };
}): string {
  const { id, description, subjectCommonName, subjectAlternativeNames } = certificate;
  return description.trim() || subjectCommonName || subjectAlternativeNames.dnsNames[0] || id;
}
