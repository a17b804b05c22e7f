import { useLocation } from 'preact-iso/router';
import { failureOf } from '../data/client/client.ts';
import { pathOf } from '../data/routing/paths.ts';
import { nameOf, signOut, viewer } from '../data/session/session.ts';
import { Button } from '../ui/button.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import type { Place } from './nav-item.ts';
import { choose, type Theme, theme } from './theme.ts';

const THEMES: Record<Theme, string> = { auto: 'As the system', light: 'Light', dark: 'Dark' };

/** The places of the dashboard, and what belongs to the viewer. */
export function Navigation({ places, isOpen }: { places: readonly Place[]; isOpen: boolean }) {
  const { path } = useLocation();
  const here = viewer.value;
  return (
    <nav id="navigation" class={isOpen ? 'navigation open' : 'navigation'} aria-label="Places">
      <ul>
        {places
          .filter(({ isListed }) => isListed)
          .map(({ folder, title }) => (
            <li key={folder}>
              <a href={pathOf(folder)} aria-current={isAt(path, pathOf(folder))}>
                {title}
              </a>
            </li>
          ))}
      </ul>
      <div class="navigation-foot">
        {here && (
          <a class="who" href={pathOf('me')} aria-current={isAt(path, pathOf('me'))}>
            <span class="who-name">{nameOf(here)}</span>
            <small>{here.isAdmin ? 'admin' : 'member'}</small>
          </a>
        )}
        <label class="theme">
          <span class="unseen">Colours</span>
          <select value={theme.value} onChange={(event) => choose(event.currentTarget.value as Theme)}>
            {Object.entries(THEMES).map(([value, title]) => (
              <option key={value} value={value} selected={value === theme.value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Button onClick={() => void signOut().catch((error) => toast(failureOf(error).message))}>Sign out</Button>
      </div>
    </nav>
  );
}

function isAt(path: string, place: string): 'page' | 'true' | undefined {
  if (path === place) return 'page';
  return path.startsWith(`${place}/`) ? 'true' : undefined;
}
