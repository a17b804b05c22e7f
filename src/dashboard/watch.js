// `npm run dev` runs this: builds the dashboard again when something of it is saved, or what it may ask changes.

import { utimesSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildDashboard } from './build.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
/** What is saved together is built together. */
const GATHER_MS = 100;

/** @type {NodeJS.Timeout | undefined} */
let gathering;
let building = Promise.resolve();

watch(here, { recursive: true }, (_, name) => {
  if (!name?.startsWith('generated')) changed();
});
// The directory rather than the file, which is another one after it was replaced.
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
    // The gateway reads the dashboard when it starts: whoever watches it for changes starts it again.
    const now = new Date();
    utimesSync(join(root, 'dist/main.js'), now, now);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  }
}
