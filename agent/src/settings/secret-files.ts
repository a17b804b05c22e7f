// Secrets that are in files, so that they are in no environment, which programs inherit and `docker inspect` shows.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

type Environment = Record<string, string | undefined>;

/**
 * The secret of a variable where the variable itself is not set: in the file that `<NAME>_FILE` names, or in the credential of systemd
 * that is called like the variable (LoadCredential= in systemd.exec(5)).
 * @param directory the base of relative file names.
 * @returns '' when there is none.
 * @throws {Error} what is wrong, which begins with the name of a variable.
 */
export function readSecretFile(env: Environment, name: string, directory: string): string {
  const variable = `${name}_FILE`;
  const named = env[variable]?.trim() ?? '';
  if (named === '') return env[name]?.trim() ? '' : readCredential(env.CREDENTIALS_DIRECTORY?.trim() ?? '', name);
  if (env[name]?.trim()) throw new Error(`${variable} must not be set beside ${name}: only one of them can be meant`);
  const text = read(resolve(directory, named), variable);
  if (text === '') throw new Error(`${variable} must name a file that is not empty`);
  return text;
}

function readCredential(directory: string, name: string): string {
  if (directory === '') return '';
  try {
    return readFileSync(join(directory, name), 'utf8').trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new Error(`CREDENTIALS_DIRECTORY must have a credential ${name} that can be read, or none: ${message}`);
  }
}

function read(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`${variable} must name a file that can be read: ${(error as Error).message}`);
  }
}
