// `npm run schema`: prints schema.graphql and the README's table of errors from code. With `--check` it only tells
// whether both are current.

import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { errorTable } from '../api/error-table.ts';
import { schema } from '../api/schema.ts';

const root = resolve(import.meta.dirname, '../..');
const errors = /(?<=<!-- errors -->\n)[\s\S]*?(?=<!-- \/errors -->)/;

const files = {
  'schema.graphql': () => `${printSchema(lexicographicSortSchema(schema))}\n`,
  'README.md': (current: string) => current.replace(errors, () => errorRows()),
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
