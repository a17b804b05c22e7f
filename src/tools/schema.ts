// `npm run schema`: prints schema.graphql from code. With `--check` it only tells whether the file is current.

import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../api/schema.ts';

const file = resolve(import.meta.dirname, '../../schema.graphql');
const text = `${printSchema(lexicographicSortSchema(schema))}\n`;

if (process.argv.includes('--check')) {
  const current = await readFile(file, 'utf8').catch(() => '');
  if (current !== text) {
    process.stderr.write('schema.graphql is not what the code says: run `npm run schema` and commit it.\n');
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
}
