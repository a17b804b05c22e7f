// The word after a command that has several things to run.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './command.js';

/**
 * The first argument, if `directory` has it; otherwise the process ends and says what there is.
 * @param {string} what names the kind of thing, in the text.
 * @param {string} directory relative to the root.
 * @param {(entry: string) => string | undefined} nameOf the name an entry of the directory goes by, if it is one.
 */
export function chosen(what, directory, nameOf) {
  const entries = existsSync(join(root, directory)) ? readdirSync(join(root, directory)) : [];
  const names = entries.flatMap((entry) => nameOf(entry) ?? []).sort();
  const name = process.argv[2] ?? '';
  if (names.includes(name)) return name;
  const said = name ? `No ${what} is called "${name}".` : `Which ${what}?`;
  process.stderr.write(`${said} There is: ${names.join(', ') || `nothing in ${directory}`}\n`);
  process.exit(1);
}

/**
 * Runs a module in this process, as if it had been named on the command line, with the arguments after its name.
 * @param {string} path relative to the root.
 */
export async function runModule(path) {
  const file = join(root, path);
  process.argv = [process.execPath, file, ...process.argv.slice(3)];
  await import(new URL(`../../${path}`, import.meta.url).href);
}
