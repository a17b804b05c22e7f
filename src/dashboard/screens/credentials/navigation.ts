import { objectPath, pathTo } from '../../data/routing/paths.ts';
import type { Breadcrumb } from '../../ui/layout/page.tsx';

export const credentialCrumbs: Breadcrumb[] = [{ title: 'Credentials', href: pathTo('credentials') }];

/** The display name of a credential. */
export function credentialTitle({ id, description }: { id: string; description: string }): string {
  return description.trim() || id;
}

export function crumbsInside(credential: { id: string; description: string }): Breadcrumb[] {
  return [...credentialCrumbs, { title: credentialTitle(credential), href: objectPath('credential', credential.id) }];
}
