// Where the user wanted to go, when the sign-in page came first.

import { signal } from '@preact/signals';
import { pathTo } from '../routing/paths.ts';

/** The page after signing in, unless the user asked for another one. */
export const HOME = pathTo('overview');

/** The page that the user goes to after signing in. It is never read from an address, which could be forged to lead elsewhere. */
export const requestedUrl = signal(HOME);
