import { fileURLToPath } from 'node:url';

/** The repository's root, with a slash at its end; also where `bundle` has put this into a program in `dist/soak`, which is as deep. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
