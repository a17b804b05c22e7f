// What has to be there before the gateway, a tool or a test can run: packages, the generated client, compiled code, the
// dashboard.
// Plain JavaScript, because nothing is installed yet. Each step leaves a stamp, a hash of what it was made from, and is
// done again only when that hash is another.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root, run } from './command.js';
import { locked } from './lock.js';
import { hasWhatRuns, installPackages, MANIFESTS } from './packages.js';

const OLDEST_NODE = [20, 19];

/**
 * @typedef {object} Step
 * @property {string} does
 * @property {string} stamp a file, under what the step makes, so that whoever deletes that deletes the stamp.
 * @property {() => string} madeFrom
 * @property {(made: string) => Promise<number>} make gives an exit code; takes the text of the stamp.
 * @property {boolean} [isWhole] what it makes appears whole, with its stamp; if it fails, all is as it was.
 * @property {boolean} [mayFail] then it is only done again next time.
 */

const STAMP_OF_PACKAGES = 'node_modules/.gateway-installed';

/** @type {Step} */
const install = {
  does: 'Installing packages (npm ci)',
  stamp: STAMP_OF_PACKAGES,
  // Of Node's version nothing depends: what is native in them goes by N-API.
  madeFrom: () => hash(MANIFESTS, process.platform, process.arch),
  make: (made) => installPackages(STAMP_OF_PACKAGES, made),
  isWhole: true,
};

/** @type {Step} */
const generate = {
  does: 'Generating the database client (prisma generate)',
  stamp: 'src/store/generated/.stamp',
  madeFrom: () => hash(['prisma/schema.prisma', 'prisma.config.ts', 'package-lock.json']),
  // Prisma would look for a newer version of itself.
  make: () => run('prisma', ['generate'], { output: 'held', env: { CHECKPOINT_DISABLE: '1' } }),
};

/** @type {(dev: boolean) => Step} */
const compile = (dev) => ({
  does: 'Compiling (tsc)',
  stamp: 'dist/.stamp',
  madeFrom: () =>
    hash(['tsconfig.json', 'prisma/schema.prisma', 'package-lock.json', ...filesUnder('src', 'src/dashboard')]),
  make: () => {
    removeStale();
    // Types are for `npm run check`: with them a start would need 900 MB, and without 360.
    return run('tsc', ['-p', 'tsconfig.json', '--noCheck'], { output: dev ? 'dropped' : 'held' });
  },
  mayFail: dev,
});

/** @type {Step} */
const bundleAgent = {
  does: 'Bundling the agent',
  stamp: 'agent/dist/.stamp',
  madeFrom: () =>
    hash([
      'package-lock.json',
      'agent/build.js',
      'agent/package.json',
      'agent/default-policy.json',
      ...filesUnder('agent/src'),
      ...filesUnder('src/protocol'),
    ]),
  make: () => run(process.execPath, ['agent/build.js'], { output: 'held' }),
};

/** @type {Step} */
const buildDashboard = {
  does: 'Building the dashboard',
  stamp: 'dist/dashboard/.stamp',
  madeFrom: () =>
    hash(['package-lock.json', 'schema.graphql', ...filesUnder('src/dashboard', 'src/dashboard/generated')]),
  // Vite would build for whoever develops it, where NODE_ENV says so.
  make: () => run(process.execPath, ['src/dashboard/build.js'], { output: 'held', env: { NODE_ENV: 'production' } }),
};

/**
 * Makes everything ready, saying on standard error what it does; nothing when nothing is to be done. Ends the process
 * when a step fails.
 * @param {object} [options]
 * @param {boolean} [options.onlyToRun] development packages need not be there.
 * @param {boolean} [options.dev] code with mistakes in it is no reason to stop: what runs next reports them.
 */
export async function prepare({ dev = false, onlyToRun = false } = {}) {
  try {
    refuseOldNode();
    const others = [generate, compile(dev), { ...bundleAgent, mayFail: dev }, { ...buildDashboard, mayFail: dev }];
    if (onlyToRun && others.every(isDone) && hasWhatRuns()) return;
    const steps = [install, ...others];
    // Nothing is written, and nobody waited for, when all is there: a checkout may be read-only.
    if (steps.every(isDone)) return;
    await locked(
      join(root, 'dist/.preparing'),
      (holder) => say(`Waiting for process ${holder}, which prepares ${root}`),
      async () => {
        for (const step of steps) if (!isDone(step)) await take(step);
      },
    );
  } catch (error) {
    say(`Cannot run: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return;
  throw new Error(`this needs Node ${OLDEST_NODE.join('.')} or newer, and this is Node ${process.versions.node}`);
}

/** @param {Step} step */
const isDone = ({ stamp, madeFrom }) =>
  existsSync(join(root, stamp)) && readFileSync(join(root, stamp), 'utf8') === madeFrom();

/** @param {Step} step */
async function take({ does, stamp, madeFrom, make, isWhole, mayFail }) {
  say(does);
  // The hash is of what was there before: a file that changes meanwhile makes the step run again next time.
  const made = madeFrom();
  if (!isWhole) rmSync(join(root, stamp), { force: true });
  const code = await make(made);
  if (code === 0) {
    mkdirSync(dirname(join(root, stamp)), { recursive: true });
    writeFileSync(join(root, stamp), made);
  } else if (!mayFail) {
    throw new Error(`"${does}" failed with exit code ${code}, see above`);
  }
}

/** Removes what a source that is gone had been compiled to. The rest stays: a gateway may be running from it. */
function removeStale() {
  // It says what need not be written again, without looking whether that is still there.
  rmSync(join(root, 'dist/.tsbuildinfo'), { force: true });
  if (!existsSync(join(root, 'dist'))) return;
  for (const file of filesUnder('dist', 'dist/dashboard')) {
    const source = join('src', relative('dist', file)).replace(/\.map$/, '');
    const sources = [source, source.replace(/js$/, 'ts')];
    if (!sources.some((path) => existsSync(join(root, path)))) rmSync(join(root, file));
  }
}

/**
 * Everything but hidden files, which are stamps and locks.
 * @param {string} directory relative to the root, as the result is.
 * @param {string} [except] a directory below it.
 * @returns {string[]}
 */
function filesUnder(directory, except) {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || path === except) return [];
    return entry.isDirectory() ? filesUnder(path, except) : [path];
  });
}

/**
 * @param {string[]} files relative to the root.
 * @param {(string | undefined)[]} more
 */
function hash(files, ...more) {
  const parts = files.sort().map((file) => [
    file,
    createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex'),
  ]);
  return createHash('sha256')
    .update(JSON.stringify([parts, more]))
    .digest('hex');
}

/** @param {string} text */
const say = (text) => process.stderr.write(`${text}\n`);
