// Where each script of package.json, each benchmark and each soak runs: none of them may rot unseen. `scripts.test.ts` compares
// these tables with what there is.

/** A file, and the words by which it runs it. */
export interface Run {
  file: string;
  by: string;
}

const inFile = (file: string, by: string): Run => ({ file, by });

/** By name. Pages are run by test/documents/commands.test.ts. */
export const scripts: Record<string, Run[]> = {
  start: [inFile('test/boot/prepare.test.ts', "boot('start.js')")],
  dev: [inFile('test/boot/dev.test.ts', "'src/boot/dev.js'")],
  test: [inFile('.ci/run', 'npm run --silent test')],
  check: [inFile('.ci/run', 'npm run --silent check')],
  build: [inFile('test/boot/prepare.test.ts', "boot('build.js')"), inFile('test/boot/install.test.ts', "'build.js'")],
  package: [inFile('test/boot/package.test.ts', "'src/boot/package.js'")],
  schema: [inFile('src/boot/check.js', "'dist/tools/schema.js', '--check'")],
  migration: [inFile('test/store/database/migrations.test.ts', "'dist/tools/migration.js'")],
  backup: [inFile('test/store/backup.test.ts', "tool('backup'")],
  restore: [inFile('test/store/backup.test.ts', "tool('restore'")],
  'api-key': [inFile('test/sign-in/tool.test.ts', "run('api-key'")],
  'sign-in-link': [inFile('test/sign-in/tool.test.ts', "run('sign-in-link'")],
  upgrade: [inFile('test/support/upgrade/lab.ts', "'dist/tools/upgrade.js'")],
  'test:node': [inFile('.ci/run', 'npm run --silent test:node')],
  'test:browser': [inFile('test/boot/soaks.test.ts', "'src/boot/browser.js'")],
  bench: [inFile('test/boot/benchmarks.test.ts', "'src/boot/bench.js'")],
  soak: [inFile('test/boot/soaks.test.ts', "'src/boot/soak.js'")],
  format: [inFile('test/boot/scripts.test.ts', 'manifest.scripts.format')],
  agent: [inFile('README.md', 'npm run agent -- http 3000')],
  demo: [inFile('test/cluster/demo.test.ts', "'src/boot/demo.js'")],
  cluster: [inFile('test/cluster/demo.test.ts', "'src/boot/cluster.js'")],
};

const benchmark = (name: string) => [inFile('test/boot/benchmarks.test.ts', `smoke('${name}'`)];

export const benches: Record<string, Run[]> = {
  api: benchmark('api'),
  binds: benchmark('binds'),
  'data-plane': benchmark('data-plane'),
  dns: benchmark('dns'),
  events: benchmark('events'),
  hop: benchmark('hop'),
  policy: benchmark('policy'),
  weight: benchmark('weight'),
};

/** A scenario that both a soak and a shorter test import: with it the test has fewer rounds of the same. */
const scenario = (file: string, module: string) => [inFile(file, module)];
const shortRound = (name: string) => [inFile('test/boot/soaks.test.ts', `['${name}', {`)];
/** What it says depends on the speed of the machine: only a person can judge it. */
const loaded = [inFile('test/boot/soaks.test.ts', 'Object.keys(soaks)')];

/** It takes as long as it says: shorter tests have the same with shorter times. */
const inRealTime = loaded;

export const soaks: Record<string, Run[]> = {
  acme: [
    ...scenario('test/acme/crash.test.ts', 'scenarios/crashes.ts'),
    ...scenario('test/acme/pebble.test.ts', 'scenarios/pebble.ts'),
    ...scenario('test/acme/renewal.test.ts', 'scenarios/renewals.ts'),
    ...scenario('test/acme/two-gateways.test.ts', 'scenarios/two-gateways.ts'),
  ],
  answers: inRealTime,
  badday: loaded,
  clouds: shortRound('clouds'),
  crash: scenario('test/ops/failures/crash.test.ts', 'support/faults/crash.ts'),
  events: scenario('test/ops/failures/event-crash.test.ts', 'support/events/event-crash.ts'),
  failover: shortRound('failover'),
  faults: scenario('test/tunnel/faults.test.ts', '/faults.ts'),
  herd: shortRound('herd'),
  hostile: scenario('test/security/hostile-round.test.ts', '/round.ts'),
  lists: scenario('test/lists/many-rows.test.ts', '/many-rows.ts'),
  long: [inFile('vitest.config.ts', "process.env.SOAK === 'long'")],
  memory: loaded,
  nodes: scenario('test/cluster/rounds.test.ts', 'support/nodes/rounds.ts'),
  sdk: scenario('test/tunnel/sdk-traffic.test.ts', 'support/events/traffic.ts'),
  sequences: scenario('test/contract/sequences.test.ts', '/sequences.ts'),
  traffic: scenario('test/events/load.test.ts', 'support/events/traffic-load.ts'),
  upgrade: scenario('test/workers/upgrade.test.ts', 'support/upgrade/lab.ts'),
  workers: loaded,
};
