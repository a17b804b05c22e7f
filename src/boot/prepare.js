// Prepares the repository for the gateway, a tool or a test: packages, the generated client, compiled code and the
// dashboard. It is plain JavaScript, as nothing is installed yet. Each step writes a stamp with the hash of its inputs,
// and runs again only when that hash changes.

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
 * @property {string} stamp a file among the outputs of the step, so that deleting these deletes the stamp.
 * @property {() => string} madeFrom
 * @property {(made: string) => Promise<number>} make runs the step; gets the text of the stamp, and returns an exit code.
 * @property {boolean} [isWhole] whether the step replaces its outputs and the stamp atomically, and changes nothing when
 * it fails.
 * @property {boolean} [mayFail] whether a failure is ignored; the step then runs again next time.
 */

const STAMP_OF_PACKAGES = 'node_modules/.gateway-installed';

/** @type {Step} */
const install = {
  does: 'Installing packages (npm ci)',
  stamp: STAMP_OF_PACKAGES,
  // The version of Node is no input, as native packages use Node-API, whose ABI is stable.
  madeFrom: () => hash(MANIFESTS, process.platform, process.arch),
  make: (made) => installPackages(STAMP_OF_PACKAGES, made),
  isWhole: true,
};

/** @type {Step} */
const generate = {
  does: 'Generating the database client (prisma generate)',
  stamp: 'src/store/generated/.stamp',
  madeFrom: () => hash(['prisma/schema.prisma', 'prisma.config.ts', 'package-lock.json']),
  // Without this variable Prisma checks for a newer version of itself.
  make: () => run('prisma', ['generate'], { output: 'held', env: { CHECKPOINT_DISABLE: '1' } }),
};

/** @type {(dev: boolean) => Step} */
const compile = (dev) => ({
  does: 'Compiling (tsc)',
  stamp: 'dist/.stamp',
  madeFrom: () =>
    hash(['tsconfig.json', 'prisma/schema.prisma', 'package-lock.json', ...filesUnder('src', ['src/dashboard'])]),
  make: () => {
    removeStale();
    // Only `npm run check` checks types: with them a start needs 900 MB of memory, without them 360 MB.
    return run('tsc', ['-p', 'tsconfig.json', '--noCheck'], { output: dev ? 'dropped' : 'held' });
  },
  mayFail: dev,
});

/** @type {(dev: boolean) => Step} */
const bundleGateway = (dev) => ({
  does: 'Bundling the gateway',
  stamp: 'dist/bundle/.stamp',
  // What was compiled from which sources stands in the stamp; after a failure there is none.
  madeFrom: () => hash(['src/boot/bundle.js', ...['dist/.stamp'].filter((file) => existsSync(join(root, file)))]),
  make: () => run(process.execPath, ['src/boot/bundle.js'], { output: 'held' }),
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
    hash(['package-lock.json', 'schema.graphql', ...filesUnder('src/dashboard', ['src/dashboard/generated'])]),
  // With NODE_ENV=development Vite would make a development build.
  make: () => run(process.execPath, ['src/dashboard/build.js'], { output: 'held', env: { NODE_ENV: 'production' } }),
};

/**
 * Runs all steps that are not up to date, and reports them on standard error. Ends the process when a step fails.
 * @param {object} [options]
 * @param {boolean} [options.onlyToRun] runtime packages are enough.
 * @param {boolean} [options.onlyCompiled] neither bundles nor the dashboard, whose build cannot succeed before the schema is printed.
 * @param {boolean} [options.dev] type errors do not stop the preparation, as the next command reports them.
 */
export async function prepare({ dev = false, onlyToRun = false, onlyCompiled = false } = {}) {
  try {
    refuseOldNode();
    const others = [
      generate,
      compile(dev),
      ...(onlyCompiled
        ? []
        : [bundleGateway(dev), { ...bundleAgent, mayFail: dev }, { ...buildDashboard, mayFail: dev }]),
    ];
    if (onlyToRun && others.every(isDone) && hasWhatRuns()) return;
    const steps = [install, ...others];
    // When everything is up to date, it writes nothing and takes no lock: a checkout may be read-only.
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
  // The hash is computed before the step, so that a file that changes meanwhile makes the step run again next time.
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

/** Removes the compiled code of deleted sources. The rest stays, as a gateway may be running from it. */
function removeStale() {
  // The build info lists outputs that are current, and tsc does not check that they still exist.
  rmSync(join(root, 'dist/.tsbuildinfo'), { force: true });
  if (!existsSync(join(root, 'dist'))) return;
  for (const file of filesUnder('dist', ['dist/dashboard', 'dist/bundle'])) {
    const source = join('src', relative('dist', file)).replace(/\.map$/, '');
    const sources = [source, source.replace(/js$/, 'ts')];
    if (!sources.some((path) => existsSync(join(root, path)))) rmSync(join(root, file));
  }
}

/**
 * Lists all files but hidden ones, which are stamps and locks.
 * @param {string} directory relative to the root, as the result is.
 * @param {string[]} [except] directories below it.
 * @returns {string[]}
 */
function filesUnder(directory, except = []) {
  return readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.name.startsWith('.') || entry.name === 'node_modules' || except.includes(path)) return [];
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
