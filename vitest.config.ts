// Every test runs on the embedded database, and those that see what databases do once more on a PostgreSQL server; `npm test`
// leaves these out when no server answers. Those of GraphQL run once more through Yoga's adapter, and those of traffic once more with
// visitors at another node than their agents.

import { defineConfig } from 'vitest/config';

const all = ['test/**/*.test.ts'];
// The AWS SDK would tell every worker what Node it likes.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
const soak = process.env.SOAK ? [] : ['test/soak/**'];

export default defineConfig({
  // The ES and the CommonJS copy of graphql refuse each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    exclude: ['test/bench/**', ...soak],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // What these start needs all that a machine of two cores has.
    maxWorkers: ['herd', 'upgrade', 'workers'].includes(process.env.SOAK ?? '') ? 1 : 2,
    // Loading graphql, Pothos and Prisma anew takes longer than most files do. The projects share no worker.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is polled for comes later on a busy machine; the usual second is a guess about speed.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'embedded', env: { GATEWAY_TEST_DATABASE: 'embedded' }, include: all },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          env: { GATEWAY_TEST_DATABASE: 'postgres' },
          include: all,
          // These see no database, only the embedded one, or only through what `store`, `ops` and `rest` prove of it.
          exclude: [
            'test/{agent,boot,documents,edge,live,policy,protocol,pure,tunnel,workers}/**',
            'test/store/embedded/**',
            // Refused before anything is written, or asked of the database no otherwise than by the operations' own test.
            'test/accounts/**',
            'test/dashboard/**',
            'test/contract/{hostile/hostile,limits}.test.ts',
            'test/graphql/{capture/**,domain-check*,evaluate-policy,gateway-info,try-acl,engine/{documents,limits,over-http}}.test.ts',
            'test/rest/{event,headers,ip,modules,operation,order,paths,query,strict,tls}*.test.ts',
            'test/sign-in/{forgery,plain-http,slow-down,stolen-cookie}.test.ts',
            'test/security/{api-connections,cors,hostile-round,no-secret-in-logs,strangers,trusted-proxies,unread-answers,who-may-ask}.test.ts',
            'test/events/{clouds,delivery,sinks}/**',
            'test/events/{load,audit/secrets}.test.ts',
            'test/events/pipeline/{audit,changes,delivery-state,idle,neighbours}.test.ts',
            'test/events/traffic/{buffer*,filter,objects,traffic-events}.test.ts',
            'test/ops/{drain,start}.test.ts',
            'test/ops/failures/{defects,event-crash,full-disk}.test.ts',
            'test/ops/monitoring/{logs,metrics-visits,ready}.test.ts',
          ],
        },
      },
      {
        // Our own code frames plain GraphQL POSTs, and Yoga's adapter the rest. Every test of GraphQL runs once more with
        // all requests through that adapter: what one answers, the other must.
        extends: true,
        test: {
          name: 'yoga',
          env: { GATEWAY_TEST_DATABASE: 'embedded', GATEWAY_TEST_ONLY_YOGA: '1' },
          include: ['test/contract/{hostile/hostile,operations}.test.ts', 'test/graphql/**/*.test.ts'],
        },
      },
      {
        // Agents are at another node than visitors: what is served over a link must be what is served without one.
        extends: true,
        test: {
          name: 'hop',
          env: { GATEWAY_TEST_DATABASE: 'postgres', GATEWAY_TEST_HOP: '1' },
          include: [
            'test/tunnel/{sdk,sdk-traffic}.test.ts',
            'test/live/pipeline/{requests,responses,http2}.test.ts',
            'test/live/edges/{https-edge,tls-edge,backends}.test.ts',
            'test/live/internal.test.ts',
            'test/live/modules/each.test.ts',
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
            'test/tunnel/{sdk,sdk-traffic}.test.ts',
            'test/live/pipeline/{requests,responses,http2}.test.ts',
            'test/live/edges/{https-edge,tls-edge,backends}.test.ts',
            'test/live/{internal,modules/each,traffic-events/kinds}.test.ts',
            'test/ops/{drain,journey}.test.ts',
          ],
        },
      },
    ],
  },
});
