import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The directory of the package that a file belongs to: where `prisma` and `dist` are. Compiled code is at several depths below it.
 *
 * @param directory of the file, absolute.
 * @throws when no `package.json` is there or above.
 */
export function packageRoot(directory: string): string {
  if (existsSync(join(directory, 'package.json'))) return directory;
  const parent = dirname(directory);
  if (parent === directory) throw new Error('there is no package.json beside the gateway, or above it');
  return packageRoot(parent);
}
