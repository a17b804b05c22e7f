// The screens, in the order in which people open them. Each is loaded when it is first gone to.

import type { ComponentType } from 'preact';
import { lazy } from 'preact-iso';
import type { Place } from '../shell/nav-item.ts';
import { Button } from '../ui/button.tsx';
import { Page } from '../ui/layout/page.tsx';

interface ScreenPlace extends Place {
  component: ComponentType;
}

export const places: readonly ScreenPlace[] = [
  place('endpoints', 'Endpoints', () => import('./endpoints/index.tsx')),
  place('agents', 'Agents', () => import('./agents/index.tsx')),
  place('traffic', 'Traffic', () => import('./traffic/index.tsx')),
  place('credentials', 'Credentials', () => import('./credentials/index.tsx')),
  place('domains', 'Domains', () => import('./domains/index.tsx')),
  place('edges', 'Edges', () => import('./edges/index.tsx')),
  place('events', 'Events', () => import('./events/index.tsx')),
  place('access', 'Access', () => import('./access/index.tsx')),
  { ...place('me', 'Your sign-in', () => import('./me/index.tsx')), isListed: false },
];

function place(folder: string, title: string, load: () => Promise<{ default: ComponentType }>): ScreenPlace {
  // A gateway that was updated no longer has the files of the page that is open.
  const component = lazy<ComponentType>(() => load().catch(() => Outdated));
  return { folder, title, component, isListed: true };
}

/** What stands where a screen could not be loaded. */
function Outdated() {
  return (
    <Page title="This screen could not be loaded">
      <p>The gateway may have been updated since this page was opened, or it can’t be reached.</p>
      <div>
        <Button look="primary" onClick={() => location.reload()}>
          Load the page again
        </Button>
      </div>
    </Page>
  );
}
