// Every test runs on the embedded database, and those in which a PostgreSQL server may differ once more on one; `npm test` leaves
// these out when no server answers. Operations of GraphQL run once more through Yoga's adapter, and some of traffic once more with
// visitors at another node than their agents, or with workers.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longTests, shortenedTests } from './test/soak/long/files.js';

const all = process.env.SOAK === 'long' ? [...longTests, ...shortenedTests] : ['test/**/*.test.ts'];
// The AWS SDK would tell every worker what Node it likes.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
const soak = process.env.SOAK ? [] : ['test/soak/**', ...longTests];
/** What a project has in `npm run soak -- long` alone: it looks closer at what the rest of it proves. */
const onlyLong = (...files: string[]) => (process.env.SOAK === 'long' ? files : []);

/** What another project proves as well. */
const exceptLong = (...files: string[]) => (process.env.SOAK === 'long' ? [] : files);

const root = import.meta.dirname;
/**
 * Has tests import what was compiled just before, as the gateway itself does. In each worker, loading the sources through vite takes
 * longer than most files of tests do.
 */
const compiledSources: Plugin = {
  name: 'compiled-sources',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!importer || !source.startsWith('.')) return undefined;
    return compiledFrom(resolve(dirname(importer), source));
  },
};
/** The compiled file of a source, both by their absolute paths. */
function compiledFrom(source: string): string | undefined {
  const path = relative(root, source);
  if (!path.startsWith('src/') || !path.endsWith('.ts')) return undefined;
  const compiled = join(root, 'dist', `${path.slice('src/'.length, -'.ts'.length)}.js`);
  return existsSync(compiled) ? compiled : undefined;
}
const compiledFiles = new RegExp(`^${join(root, 'dist/').replace(/[^\w/-]/g, '\\$&')}`);
/** Set by the commands that compile before. `npx vitest` alone sees the sources as they are. */
const isCompiled = process.env.GATEWAY_TEST_COMPILED === '1';

/** These gather tests for projects of their own. */
const ofOtherProjects = ['test/graphql/by-yoga.test.ts', 'test/shapes/**'];

/** Projects of one long file come first, and that with the most files last: no worker waits for another at the end then. */
class FewFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const filesOf = new Map<string, number>();
    for (const { project } of files) filesOf.set(project.name, (filesOf.get(project.name) ?? 0) + 1);
    const count = ({ project }: TestSpecification) => filesOf.get(project.name) ?? 0;
    return (await super.sort(files)).toSorted((one, other) => count(one) - count(other));
  }
}

export default defineConfig({
  plugins: isCompiled ? [compiledSources] : [],
  // The ES and the CommonJS copy of graphql refuse each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    server: { deps: { external: isCompiled ? [compiledFiles] : [] } },
    exclude: ['test/bench/**', ...soak],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // A file makes much and keeps little. With the usual 16 MB, what lives for a moment is copied again and again: with these a seventh
    // less CPU time was measured.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: FewFilesFirst },
    // What these soaks start needs all that a machine of two cores has. Tests wait for a third of their time, for timers, disks and
    // processes; a server has connections for the gateways of four workers.
    maxWorkers: ['herd', 'upgrade', 'workers'].includes(process.env.SOAK ?? '')
      ? 1
      : Math.min(4, Math.ceil(1.5 * availableParallelism())),
    // Loading graphql, Pothos and Prisma anew takes longer than most files do. The projects share no worker.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is polled for comes later on a busy machine; the usual second is a guess about speed.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'embedded',
          env: { GATEWAY_TEST_DATABASE: 'embedded' },
          include: all,
          exclude: ofOtherProjects,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          env: { GATEWAY_TEST_DATABASE: 'postgres' },
          include: all,
          // Both are PostgreSQL. What is left out sees no database, or nothing in which a server differs from the embedded one:
          // collation, transactions at once, connections, nodes that share it.
          exclude: [
            ...ofOtherProjects,
            'test/{accounts,agent,boot,clients,contract,dashboard,dns,documents,edge,live,policy,protocol,pure,security,specification,tunnel}/**',
            'test/workers/!(database-away).test.ts',
            'test/store/embedded/**',
            'test/acme/{account-key,browser,client*,domains,own-names,pebble,renewal,revocation}.test.ts',
            'test/acme/faults/**',
            'test/alerts/{alerts,conditions,rules}.test.ts',
            'test/audit/retention.test.ts',
            'test/graphql/!(idempotency|last-used|offline-endpoints|rotation).test.ts',
            'test/graphql/*/**',
            'test/lists/{export,many-rows,refused}.test.ts',
            'test/bulk/{jobs,retention,rights}.test.ts',
            'test/rest/!(choosing-backends|idempotency).test.ts',
            'test/sign-in/!(life|races).test.ts',
            'test/visitor-sign-in/!(two-gateways).test.ts',
            'test/events/{clouds,delivery,sinks}/**',
            'test/events/{load,audit/{api-writes,live-events,secrets}}.test.ts',
            'test/events/pipeline/{audit,changes,delivery-state,idle,neighbours,patches}.test.ts',
            'test/events/traffic/{buffer*,filter,objects,stored,traffic-events}.test.ts',
            'test/ops/{drain,idle-process,inherited-sockets,inside-process,journey,modules-carried-over,policy-sealing,server-key,start,upgrade-schema}.test.ts',
            'test/store/{edges/**,backup.test.ts}',
            'test/store/queues/{dead-letters,retention}.test.ts',
            'test/ops/failures/{event-crash,full-disk}.test.ts',
            ...exceptLong('test/store/tunnels/{bind-addresses,binds,offline-endpoints,settle-sites,sites}.test.ts'),
            'test/ops/monitoring/{health,logs,metrics-visits,ready}.test.ts',
          ],
        },
      },
      {
        // Our own code frames plain GraphQL POSTs, and Yoga's adapter the rest: what one answers, the other must. Tests of what frames
        // requests ask both. `npm run soak -- long` asks once more with all requests through the adapter: what the engine does, each
        // operation and what is hostile.
        extends: true,
        test: {
          name: 'yoga',
          env: { GATEWAY_TEST_DATABASE: 'embedded', GATEWAY_TEST_ONLY_YOGA: '1' },
          include: onlyLong('test/graphql/by-yoga.test.ts', 'test/contract/{hostile/hostile,operations}.test.ts'),
        },
      },
      {
        // Agents are at another node than visitors: what is served over a link must be what is served without one.
        extends: true,
        test: {
          name: 'hop',
          env: { GATEWAY_TEST_DATABASE: 'postgres', GATEWAY_TEST_HOP: '1' },
          include: [
            'test/shapes/hop.test.ts',
            ...onlyLong(
              'test/tunnel/sdk.test.ts',
              'test/live/pipeline/{responses,http2}.test.ts',
              'test/live/edges/{tcp-edge,tls-edge,backends,cloud-endpoint}.test.ts',
              'test/live/modules/each.test.ts',
              'test/live/policy/http-request-internal.test.ts',
              'test/live/restrictions/visitors.test.ts',
              'test/live/traffic-figures/counts.test.ts',
            ),
          ],
        },
      },
      {
        // Visitors and agents are at a worker, which asks the control process for all else.
        extends: true,
        test: {
          name: 'workers',
          env: { GATEWAY_TEST_DATABASE: 'embedded', GATEWAY_TEST_WORKERS: '1' },
          include: [
            'test/shapes/workers.test.ts',
            ...onlyLong(
              'test/tunnel/sdk.test.ts',
              'test/live/pipeline/{responses,http2}.test.ts',
              'test/live/edges/{https-edge,tls-edge,backends,cloud-endpoint,static-backends}.test.ts',
              'test/live/modules/each.test.ts',
              'test/live/policy/http-request-internal.test.ts',
              'test/live/traffic-figures/counts.test.ts',
              'test/ops/drain.test.ts',
              'test/visitor-sign-in/first-answer.test.ts',
            ),
          ],
        },
      },
    ],
  },
});
