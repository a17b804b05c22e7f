// The manual of traffic policies as tests read it: tables and lists stand between marks, `<!-- name -->`.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilePolicyText } from '../../src/policy/compile/policy.ts';
import { PolicyError } from '../../src/policy/settings/problems.ts';
import { environmentOf } from '../policy/exchange-support.ts';
import { root } from '../support/root.ts';

export const folder = join(root, 'src/manual');
export const manual = readFileSync(join(root, 'src/manual/policies.md'), 'utf8');

/** Whom the policies of the manual are for. */
export const owner = { accountId: 'ac_2test', proto: 'https' } as const;

/** What stands between two marks. */
export const part = (mark: string) =>
  new RegExp(`<!-- ${mark} -->([\\s\\S]*?)<!-- /${mark} -->`).exec(manual)?.[1] ?? '';

/** The rows of the table there, without its head. */
export const rows = (mark: string) =>
  [...part(mark).matchAll(/^\|(.*)\|$/gm)].slice(2).map(([, row = '']) => row.split('|').map((cell) => cell.trim()));

/** What stands in `…`. */
export const coded = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The names that are written as one: `a.{b,c}` is `a.b` and `a.c`. */
export function spelled(name: string): string[] {
  const [, before = '', choices, after = ''] = /^(.*?)\{([^}]*)\}(.*)$/.exec(name) ?? [];
  return choices === undefined ? [name] : choices.split(',').flatMap((choice) => spelled(before + choice + after));
}

/** All that is wrong with a policy; undefined when it can be used. */
export function refusalOf(policy: string | object): PolicyError | undefined {
  try {
    compilePolicyText(typeof policy === 'string' ? policy : JSON.stringify(policy), owner, environmentOf());
    return undefined;
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
}
