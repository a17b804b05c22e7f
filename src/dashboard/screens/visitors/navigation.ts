// The paths, tabs and breadcrumbs of this screen, and how visitors are called in it.

import { pathTo } from '../../data/routing/paths.ts';
import type { VisitorNameFragment } from '../../generated/operations.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const listPaths = { visitors: pathTo('visitors'), sessions: pathTo('visitors', 'sessions') };

export const tabs: readonly Tab[] = [
  { title: 'Visitors', href: listPaths.visitors },
  { title: 'Sessions', href: listPaths.sessions },
];

export const visitorCrumbs: Breadcrumb[] = [{ title: 'Visitors', href: listPaths.visitors }];
export const sessionCrumbs: Breadcrumb[] = [...visitorCrumbs, { title: 'Sessions', href: listPaths.sessions }];

/** The display name of a visitor; the provider says all of it, and need not say a name or a verified address. */
export function visitorTitle({ name, email, providerUserId }: VisitorNameFragment): string {
  return email || name || providerUserId;
}
