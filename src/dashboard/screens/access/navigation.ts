// The paths, tabs and breadcrumbs of this screen, and the viewer's rights in it.

import { pathTo } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

/** The list of API keys is at the root of this screen. */
export const listPaths = { keys: pathTo('access'), bots: pathTo('access', 'bots'), users: pathTo('access', 'users') };

export const tabs: readonly Tab[] = [
  { title: 'API keys', href: listPaths.keys },
  { title: 'Bot users', href: listPaths.bots },
  { title: 'Users', href: listPaths.users },
];

export const keyCrumbs: Breadcrumb[] = [{ title: 'API keys', href: listPaths.keys }];
export const botCrumbs: Breadcrumb[] = [{ title: 'Bot users', href: listPaths.bots }];
export const userCrumbs: Breadcrumb[] = [{ title: 'Users', href: listPaths.users }];

/** Only admins may change users and bot users. */
export function isAdmin(): boolean {
  return viewer.value?.isAdmin === true;
}
