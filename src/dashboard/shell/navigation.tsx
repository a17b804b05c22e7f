import { useLocation } from 'preact-iso/router';
import { toApiFailure } from '../data/client/client.ts';
import { pathTo } from '../data/routing/paths.ts';
import { removeDrafts } from '../data/session/drafts.ts';
import { signOut, viewer, viewerName } from '../data/session/session.ts';
import { Button } from '../ui/button.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { askBeforeLeaving } from '../ui/unsaved/unsaved-work.ts';
import type { NavItem } from './nav-item.ts';
import { setTheme, type Theme, theme } from './theme.ts';

const THEMES: Record<Theme, string> = { auto: 'System theme', light: 'Light theme', dark: 'Dark theme' };

/** The sidebar: links to the screens, the viewer, the theme and the sign-out button. */
export function Navigation({ navItems, isOpen }: { navItems: readonly NavItem[]; isOpen: boolean }) {
  const { path } = useLocation();
  const currentViewer = viewer.value;
  return (
    <nav id="navigation" class={isOpen ? 'navigation open' : 'navigation'} aria-label="Places">
      <ul>
        {navItems
          .filter(({ isListed }) => isListed)
          .map(({ folder, title, badge: Badge }) => (
            <li key={folder}>
              <a href={pathTo(folder)} aria-current={ariaCurrent(path, pathTo(folder))}>
                {title}
                {Badge && <Badge />}
              </a>
            </li>
          ))}
      </ul>
      <div class="navigation-footer">
        {currentViewer && (
          <a class="viewer" href={pathTo('me')} aria-current={ariaCurrent(path, pathTo('me'))}>
            <span class="viewer-name">{viewerName(currentViewer)}</span>
            <small>{currentViewer.isAdmin ? 'admin' : 'member'}</small>
          </a>
        )}
        <label class="theme">
          <span class="visually-hidden">Colours</span>
          <select value={theme.value} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
            {Object.entries(THEMES).map(([value, title]) => (
              <option key={value} value={value} selected={value === theme.value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Button onClick={() => askBeforeLeaving(() => void leave())}>Sign out</Button>
      </div>
    </nav>
  );
}

async function leave(): Promise<void> {
  try {
    await signOut();
    removeDrafts();
  } catch (error) {
    toast(toApiFailure(error).message);
  }
}

function ariaCurrent(path: string, place: string): 'page' | 'true' | undefined {
  if (path === place) return 'page';
  return path.startsWith(`${place}/`) ? 'true' : undefined;
}
