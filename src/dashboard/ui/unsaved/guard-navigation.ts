// Asks before unsaved work is lost by a link, by the back button, or by closing the tab.

import { BASE_PATH } from '../../data/routing/paths.ts';
import { askBeforeLeaving, pathOfUnsavedWork } from './unsaved-work.ts';

/** Starts to guard. It runs before the router starts, because listeners are called in the order of their registration. */
export function guardNavigation(): void {
  window.addEventListener('click', clicked, { capture: true });
  window.addEventListener('popstate', historyMoved, { capture: true });
  window.addEventListener('beforeunload', (event) => {
    if (pathOfUnsavedWork() !== undefined) event.preventDefault();
  });
}

function clicked(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a');
  if (!link || pathOfUnsavedWork() === undefined || !isFollowedByRouter(event, link)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  askBeforeLeaving(() => link.click());
}

/** Whether the router would leave the page. Other pages and other tabs are the browser’s business. */
function isFollowedByRouter(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
  const isInside = link.origin === location.origin && link.pathname.startsWith(BASE_PATH);
  return isInside && link.target === '' && !link.download && link.pathname !== location.pathname;
}

/** The address has changed already when the browser says so: it is put back until the user has agreed. */
function historyMoved(event: PopStateEvent): void {
  const path = pathOfUnsavedWork();
  if (path === undefined || new URL(path, location.origin).pathname === location.pathname) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', path);
  askBeforeLeaving(() => history.back());
}
