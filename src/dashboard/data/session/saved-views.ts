// Views of lists that the user saved, kept in this browser by account. A view is the query string of a list.

import { signal } from '@preact/signals';
import { viewer } from './session.ts';

export interface SavedView {
  name: string;
  /** `?filter=…`, or '' for the list as it is. */
  query: string;
  /** Whether a link to the list shows it. At most one of a list is. */
  isDefault?: boolean;
}

const PREFIX = 'views:';
const MAX_VIEWS = 30;
/** Changes when views were saved, so that menus render anew. */
const saves = signal(0);

/** The views of a list, by name. @param list `credentials` */
export function savedViews(list: string): readonly SavedView[] {
  saves.value;
  try {
    const views: unknown = JSON.parse(localStorage.getItem(keyOf(list)) ?? '[]');
    return Array.isArray(views) ? views.filter(isView) : [];
  } catch {
    return [];
  }
}

/** Saves a view; one of the same name is replaced. @returns whether the browser keeps it. */
export function saveView(list: string, view: SavedView): boolean {
  return store(list, [...others(list, view.name), view]);
}

export function renameView(list: string, name: string, newName: string): void {
  const view = savedViews(list).find((saved) => saved.name === name);
  if (view && newName !== name)
    store(list, [...others(list, name).filter((saved) => saved.name !== newName), { ...view, name: newName }]);
}

export function removeView(list: string, name: string): void {
  store(list, others(list, name));
}

/** Makes a view the one that a link to the list shows; without a name, none is. */
export function setDefaultView(list: string, name: string | undefined): void {
  const views = savedViews(list).map((view) => ({ ...view, isDefault: view.name === name }));
  store(list, views);
}

function others(list: string, name: string): SavedView[] {
  return savedViews(list).filter((view) => view.name !== name);
}

function store(list: string, views: readonly SavedView[]): boolean {
  const sorted = views.toSorted((one, other) => one.name.localeCompare(other.name)).slice(0, MAX_VIEWS);
  try {
    localStorage.setItem(keyOf(list), JSON.stringify(sorted));
    saves.value += 1;
    return true;
  } catch {
    return false;
  }
}

function keyOf(list: string): string {
  return `${PREFIX}${viewer.peek()?.user.id ?? ''}:${list}`;
}

/** What another version of the dashboard kept may have another form. */
function isView(view: unknown): view is SavedView {
  const { name, query } = (view ?? {}) as Partial<SavedView>;
  return typeof name === 'string' && typeof query === 'string' && (query === '' || query.startsWith('?'));
}
