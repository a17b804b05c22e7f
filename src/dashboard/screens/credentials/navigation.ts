import { addressOf, pathOf } from '../../data/routing/paths.ts';
import type { Crumb } from '../../ui/layout/page.tsx';

export const credentialCrumbs: Crumb[] = [{ title: 'Credentials', href: pathOf('credentials') }];

/** What people know a credential by. */
export function credentialTitle({ id, description }: { id: string; description: string }): string {
  return description.trim() || id;
}

export function crumbsBelow(credential: { id: string; description: string }): Crumb[] {
  return [...credentialCrumbs, { title: credentialTitle(credential), href: addressOf('credential', credential.id) }];
}
