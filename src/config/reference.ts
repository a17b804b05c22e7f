// The table of environment variables in the manual, from the schema that reads them.

import type { z } from 'zod';
import { environment } from './variables.ts';

/** @returns the rows of a Markdown table: variable, default, meaning. */
export function variableRows(): string {
  const rows = Object.entries(environment.shape).map(([name, type]) => {
    const { description = '', defaultText = defaultOf(type) } = type.meta() ?? {};
    return `| \`${name}\` | ${defaultText} | ${description} |\n`;
  });
  return `| Variable | Default | |\n|---|---|---|\n${rows.join('')}`;
}

function defaultOf(type: z.ZodType): string {
  const { success, data } = type.safeParse(undefined);
  if (!success || data === undefined) return '';
  if (Array.isArray(data)) return data.length > 0 ? `\`${data.join()}\`` : 'none';
  if (data === '') return 'empty';
  if (isRange(data)) return `\`${data.first}-${data.last}\``;
  return typeof data === 'number' ? String(data) : `\`${String(data)}\``;
}

function isRange(value: unknown): value is { first: number; last: number } {
  return typeof value === 'object' && value !== null && 'first' in value && 'last' in value;
}
