import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.ts';

/** How a command is called here, for people: in the package that `npm run package` makes, or in a clone. */
export function commandLine(command: string, ...given: string[]): string {
  const isPackage = existsSync(join(packageRoot(import.meta.dirname), 'bin/tunnel-gateway'));
  return [isPackage ? `tunnel-gateway ${command}` : `npm run ${command} --`, ...given].join(' ');
}
