// The paths, tabs and breadcrumbs of this screen.

import { objectPath, pathTo } from '../../data/routing/paths.ts';
import type { Tab } from '../../ui/layout/tabs.tsx';

export const listPaths = {
  alerts: pathTo('alerts'),
  rules: pathTo('alerts', 'rules'),
  channels: pathTo('alerts', 'channels'),
  silences: pathTo('alerts', 'silences'),
};

export const tabs: readonly Tab[] = [
  { title: 'Alerts', href: listPaths.alerts },
  { title: 'Rules', href: listPaths.rules },
  { title: 'Channels', href: listPaths.channels },
  { title: 'Silences', href: listPaths.silences },
];

export const newRule = pathTo('alerts', 'rules', 'new');
export const newChannel = pathTo('alerts', 'channels', 'new');
export const newSilence = pathTo('alerts', 'silences', 'new');

export const alertCrumbs = [{ title: 'Alerts', href: listPaths.alerts }];
export const ruleCrumbs = [{ title: 'Alert rules', href: listPaths.rules }];
export const channelCrumbs = [{ title: 'Alert channels', href: listPaths.channels }];
export const silenceCrumbs = [{ title: 'Alert silences', href: listPaths.silences }];

/** The path of the form that edits a rule or a channel. */
export function alertEditPath(kind: 'alertRule' | 'alertChannel', id: string): string {
  return `${objectPath(kind, id)}/edit`;
}

/** The path of the form of a silence, for a rule. */
export function silencePath(ruleId: string): string {
  return `${newSilence}?rule=${encodeURIComponent(ruleId)}`;
}
