// Every test runs twice: on the embedded database, and on a PostgreSQL server. `npm test` leaves the second out when no
// server answers. Those of the API run once more with every GraphQL request going through Yoga.

import { defineConfig } from 'vitest/config';

const soak = process.env.SOAK ? [] : ['test/soak/**'];

export default defineConfig({
  // The ES and the CommonJS copy of graphql refuse each other's types.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**', ...soak],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Loading graphql, Pothos and Prisma anew takes longer than most files do. The projects share no worker.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: { name: 'embedded', env: { GATEWAY_TEST_DATABASE: 'embedded' } },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          env: { GATEWAY_TEST_DATABASE: 'postgres' },
          // These use no database, or only the embedded one.
          exclude: [
            'test/boot/**',
            'test/pure/**',
            'test/documents/{schema,brand}.test.ts',
            'test/store/embedded.test.ts',
          ],
        },
      },
      {
        // The GraphQL door has two ways in, the short path and Yoga. What one answers, the other must.
        extends: true,
        test: {
          name: 'yoga',
          env: { GATEWAY_TEST_DATABASE: 'embedded', GATEWAY_TEST_ONLY_YOGA: '1' },
          exclude: ['test/{accounts,boot,documents,ops,pure,rest,security,soak,store}/**'],
        },
      },
    ],
  },
});
