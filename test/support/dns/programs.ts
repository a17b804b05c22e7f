// Programs of others that know DNS, where they are installed.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Debian's packages that have them. */
const packages = {
  dig: 'bind9-dnsutils',
  kdig: 'knot-dnsutils',
  drill: 'ldnsutils',
  unbound: 'unbound',
  dnsperf: 'dnsperf',
} as const;
export type Program = keyof typeof packages;

/** Where servers are, which a user's path need not have. */
const MORE_PLACES = ['/usr/sbin', '/usr/local/sbin'];

/** @returns undefined where it is not installed. */
export function pathOf(program: Program): string | undefined {
  const places = [...(process.env.PATH ?? '').split(delimiter), ...MORE_PLACES];
  return places.map((place) => join(place, program)).find((path) => existsSync(path));
}

/** Why tests with a program are skipped. */
export const missing = (program: Program) => `there is no ${program} (Debian's package ${packages[program]})`;

/** Runs a program to its end. @returns what it writes, its errors last; it may fail, as clients do when they are refused. */
export async function runProgram(program: Program, ...args: string[]): Promise<string> {
  const run = promisify(execFile)(pathOf(program) ?? program, args);
  const { stdout, stderr } = await run.catch((error: { stdout?: string; stderr?: string }) => {
    if (typeof error.stdout !== 'string') throw error;
    return { stdout: error.stdout, stderr: error.stderr ?? '' };
  });
  return stdout + stderr;
}
