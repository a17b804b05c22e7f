// The paths, tabs and breadcrumbs of this screen.

import { objectPath, pathTo } from '../../data/routing/paths.ts';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const listPaths = {
  destinations: pathTo('events'),
  subscriptions: pathTo('events', 'subscriptions'),
};

export const tabs: readonly Tab[] = [
  { title: 'Destinations', href: listPaths.destinations },
  { title: 'Subscriptions', href: listPaths.subscriptions },
];

export const newDestination = pathTo('events', 'destinations', 'new');
export const newSubscription = pathTo('events', 'subscriptions', 'new');

export const destinationCrumbs = [{ title: 'Event destinations', href: listPaths.destinations }];
export const subscriptionCrumbs = [{ title: 'Event subscriptions', href: listPaths.subscriptions }];

/** The path of the form that edits a destination. */
export function editPath(destinationId: string): string {
  return `${objectPath('eventDestination', destinationId)}/edit`;
}

export function deadLetterPath(destinationId: string, id: string): string {
  return `${objectPath('eventDestination', destinationId)}/dead-letters/${encodeURIComponent(id)}`;
}
