// `npm run schema`: prints schema.graphql and the README's tables of errors from code. With `--check` it only tells
// whether they are current.

import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { errorTable } from '../api/error-table.ts';
import { schema } from '../api/schema.ts';
import { visitorErrors } from '../edge/errors.ts';
import { agentErrors } from '../tunnel/agent-errors.ts';

const root = resolve(import.meta.dirname, '../..');
const place = (name: string) => new RegExp(`(?<=<!-- ${name} -->\\n)[\\s\\S]*?(?=<!-- /${name} -->)`);

const files = {
  'schema.graphql': () => `${printSchema(lexicographicSortSchema(schema))}\n`,
  'README.md': (current: string) =>
    current
      .replace(place('errors'), errorRows)
      .replace(place('visitor errors'), visitorErrorRows)
      .replace(place('agent errors'), agentErrorRows),
};

function errorRows(): string {
  const rows = Object.values(errorTable)
    .toSorted(([a], [b]) => a - b)
    .map(
      ([number, status, code, text]) =>
        `| \`ERR_GATEWAY_${number}\` | ${status} | ${code} | ${text.replaceAll('|', '\\|')} |\n`,
    );
  return `| Error | Status | Code | What it says |\n|---|---|---|---|\n${rows.join('')}`;
}

function visitorErrorRows(): string {
  const rows = Object.values(visitorErrors)
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, status, text }) => `| \`ERR_GATEWAY_${number}\` | ${status} | ${text.replaceAll('|', '\\|')} |\n`);
  return `| Error | Status | What it says |\n|---|---|---|\n${rows.join('')}`;
}

function agentErrorRows(): string {
  const rows = Object.values(agentErrors)
    .toSorted((a, b) => a.number - b.number)
    .map(({ number, text }) => `| \`ERR_GATEWAY_${number}\` | ${text.replaceAll('|', '\\|')} |\n`);
  return `| Error | What it says |\n|---|---|\n${rows.join('')}`;
}

for (const [name, print] of Object.entries(files)) {
  const file = resolve(root, name);
  const current = await readFile(file, 'utf8').catch(() => '');
  const text = print(current);
  if (text === current) continue;
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else {
    process.stderr.write(`${name} is not what the code says: run \`npm run schema\` and commit it.\n`);
    process.exitCode = 1;
  }
}
