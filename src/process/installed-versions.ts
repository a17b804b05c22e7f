// The layout in which versions are installed beside each other: `/opt/tunnel-gateway/0.1.0`, and a link `current` to the one that runs.

import { lstatSync, readlinkSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The file that all processes of a version run, in its directory. */
const MAIN = 'dist/bundle/main.js';

/** The link beside a version, if there is one that leads to a version. @param root the directory of the version, absolute. */
export function currentLink(root: string): string | undefined {
  const link = join(dirname(root), 'current');
  try {
    return lstatSync(link).isSymbolicLink() && lstatSync(join(link, MAIN)).isFile() ? link : undefined;
  } catch {
    return undefined;
  }
}

/** The file that the processes of a version run. @param root the directory of the version. */
export const mainFile = (root: string) => join(root, MAIN);

/** The same of the version that `current` beside `root` leads to; undefined without such a link. */
export function currentMainFile(root: string): string | undefined {
  const link = currentLink(root);
  return link === undefined ? undefined : mainFile(realpathSync(link));
}

/** Makes the link lead to the version in `root`, at once. @throws when that cannot be written. */
export function moveCurrentLink(link: string, root: string): void {
  if (readlinkSync(link) === basename(root)) return;
  const made = `${link}-${process.pid}`;
  symlinkSync(basename(root), made);
  renameSync(made, link);
}
