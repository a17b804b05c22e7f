// The screens in the order of the navigation. The code of each is loaded on its first visit.

import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';
import { FiringAlertCount } from '../shell/firing-alerts.tsx';
import type { NavItem } from '../shell/nav-item.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/layout/page.tsx';

interface ScreenEntry extends NavItem {
  component: ComponentType;
}

export const screens: readonly ScreenEntry[] = [
  screen('overview', 'Overview', () => import('./overview/index.tsx')),
  screen('endpoints', 'Endpoints', () => import('./endpoints/index.tsx')),
  { ...screen('alerts', 'Alerts', () => import('./alerts/index.tsx')), badge: FiringAlertCount },
  screen('agents', 'Agents', () => import('./agents/index.tsx')),
  screen('requests', 'Requests', () => import('./requests/index.tsx')),
  screen('traffic', 'Traffic', () => import('./traffic/index.tsx')),
  screen('visitors', 'Visitors', () => import('./visitors/index.tsx')),
  screen('credentials', 'Credentials', () => import('./credentials/index.tsx')),
  screen('domains', 'Domains', () => import('./domains/index.tsx')),
  screen('edges', 'Edges', () => import('./edges/index.tsx')),
  screen('events', 'Events', () => import('./events/index.tsx')),
  screen('audit', 'Audit', () => import('./audit/index.tsx')),
  screen('access', 'Access', () => import('./access/index.tsx')),
  { ...screen('jobs', 'Bulk changes', () => import('./jobs/index.tsx')), isListed: false },
  { ...screen('me', 'Your sign-in', () => import('./me/index.tsx')), isListed: false },
];

function screen(folder: string, title: string, load: () => Promise<{ default: ComponentType }>): ScreenEntry {
  // After an update the gateway no longer has the files of the page that is open.
  const component = lazy<ComponentType>(() => load().catch(() => LoadFailed));
  return { folder, title, component, isListed: true };
}

/** Shown if the code of a screen could not be loaded. */
function LoadFailed() {
  return (
    <Page title="This screen could not be loaded">
      <p>The gateway may have been updated since this page was opened, or it can’t be reached.</p>
      <div>
        <Button variant="primary" onClick={() => location.reload()}>
          Load the page again
        </Button>
      </div>
    </Page>
  );
}
