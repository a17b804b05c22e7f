// What the palette can do, besides finding what is there.

import { pathTo } from '../data/routing/paths.ts';
import { viewer } from '../data/session/session.ts';
import { setTheme, theme } from './theme.ts';

export interface PaletteAction {
  title: string;
  /** Where it leads; an action without a path does something at once. */
  href?: string;
  run?: () => void;
  isForAdmins?: boolean;
}

const newPage = (title: string, ...path: string[]): PaletteAction => ({ title, href: pathTo(...path) });

const actions: readonly PaletteAction[] = [
  newPage('New credential', 'credentials', 'new'),
  newPage('Reserve a domain', 'domains', 'new'),
  newPage('Reserve a TCP address', 'domains', 'addresses', 'new'),
  newPage('Upload a certificate', 'domains', 'certificates', 'new'),
  newPage('New edge', 'edges', 'new'),
  newPage('New cloud endpoint', 'edges', 'cloud', 'new'),
  newPage('New tunnel group', 'edges', 'backends', 'new'),
  newPage('New weighted backend', 'edges', 'backends', 'weighted', 'new'),
  newPage('New failover backend', 'edges', 'backends', 'failover', 'new'),
  newPage('New HTTP response', 'edges', 'backends', 'responses', 'new'),
  newPage('New IP policy', 'edges', 'ip-policies', 'new'),
  newPage('New vault', 'edges', 'vaults', 'new'),
  newPage('New certificate authority', 'edges', 'authorities', 'new'),
  newPage('New event destination', 'events', 'destinations', 'new'),
  newPage('New event subscription', 'events', 'subscriptions', 'new'),
  newPage('New API key', 'access', 'keys', 'new'),
  { ...newPage('New bot user', 'access', 'bots', 'new'), isForAdmins: true },
  { ...newPage('New user', 'access', 'users', 'new'), isForAdmins: true },
];

/** The actions that the viewer may take and whose titles have all words of the text. An empty text has none. */
export function matchingActions(text: string, showShortcuts: () => void): PaletteAction[] {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const isDark = theme.value === 'dark';
  const here: PaletteAction[] = [
    { title: isDark ? 'Light colours' : 'Dark colours', run: () => setTheme(isDark ? 'light' : 'dark') },
    { title: 'Keyboard shortcuts', run: showShortcuts },
  ];
  return [...actions, ...here].filter(
    ({ title, isForAdmins }) =>
      (!isForAdmins || viewer.value?.isAdmin) && words.every((word) => title.toLowerCase().includes(word)),
  );
}
