import { pathOf } from '../../data/addresses.ts';
import type { Crumb } from '../../ui/page.tsx';

export const endpointCrumbs: Crumb[] = [{ title: 'Endpoints', href: pathOf('endpoints') }];
