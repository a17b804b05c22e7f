// The addresses of this screen, and who may do what in it.

import { pathTo } from '../../data/routing/paths.ts';
import { viewer } from '../../data/session/session.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';
import type { Tab } from '../../ui/layout/tabs.tsx';

/** API keys are what stands there when no list is named. */
export const lists = { keys: pathTo('access'), bots: pathTo('access', 'bots'), users: pathTo('access', 'users') };

export const tabs: readonly Tab[] = [
  { title: 'API keys', href: lists.keys },
  { title: 'Bot users', href: lists.bots },
  { title: 'Users', href: lists.users },
];

export const keyCrumbs: Breadcrumb[] = [{ title: 'API keys', href: lists.keys }];
export const botCrumbs: Breadcrumb[] = [{ title: 'Bot users', href: lists.bots }];
export const userCrumbs: Breadcrumb[] = [{ title: 'Users', href: lists.users }];

/** Users and bot users are the admins' business. */
export function isAdmin(): boolean {
  return viewer.value?.isAdmin === true;
}
