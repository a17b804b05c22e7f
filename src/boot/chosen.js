// Selects a script by the first argument of a command.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './command.js';

/**
 * Returns the first argument when `directory` has an entry of that name. Otherwise it prints the names and ends the process.
 * @param {string} what the kind of script, for the message.
 * @param {string} directory relative to the root.
 * @param {(entry: string) => string | undefined} nameOf the name of an entry; undefined when it is no script.
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
 * Runs a module in this process as if the command line had named it. It gets the arguments after its name.
 * @param {string} path relative to the root.
 */
export async function runModule(path) {
  const file = join(root, path);
  process.argv = [process.execPath, file, ...process.argv.slice(3)];
  await import(new URL(`../../${path}`, import.meta.url).href);
}
