// Part of `npm run dev`: builds the dashboard again when one of its files or the schema changes.

import { utimesSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from './build.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
/** Changes within this time cause one build. */
const GATHER_MS = 100;

/** @type {NodeJS.Timeout | undefined} */
let gathering;
let building = Promise.resolve();

watch(here, { recursive: true }, (_, name) => {
  if (!name?.startsWith('generated')) changed();
});
// The directory is watched, because replacing the file ends a watch on the file itself.
watch(root, (_, name) => {
  if (name === 'schema.graphql') changed();
});

function changed() {
  clearTimeout(gathering);
  gathering = setTimeout(() => {
    building = building.then(build);
  }, GATHER_MS);
}

async function build() {
  try {
    await buildDashboard();
    process.stderr.write('The dashboard was built.\n');
    // The gateway reads the dashboard only at its start, so it has to start again: touching main.js makes `npm run dev`
    // do so.
    const now = new Date();
    utimesSync(join(root, 'dist/main.js'), now, now);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  }
}
