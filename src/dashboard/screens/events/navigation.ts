// The addresses of this screen that are no object's.

import { addressOf, pathOf } from '../../data/routing/paths.ts';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const lists = {
  destinations: pathOf('events'),
  subscriptions: pathOf('events', 'subscriptions'),
};

export const tabs: readonly Tab[] = [
  { title: 'Destinations', href: lists.destinations },
  { title: 'Subscriptions', href: lists.subscriptions },
];

export const newDestination = pathOf('events', 'destinations', 'new');
export const newSubscription = pathOf('events', 'subscriptions', 'new');

export const destinationCrumbs = [{ title: 'Event destinations', href: lists.destinations }];
export const subscriptionCrumbs = [{ title: 'Event subscriptions', href: lists.subscriptions }];

/** Where a destination is changed. */
export function editOf(destinationId: string): string {
  return `${addressOf('eventDestination', destinationId)}/edit`;
}

export function deadLetterOf(destinationId: string, id: string): string {
  return `${addressOf('eventDestination', destinationId)}/dead-letters/${encodeURIComponent(id)}`;
}
