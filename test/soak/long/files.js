// Tests that `npm test` has no time for: each takes half a minute and more, and looks closer at what shorter tests prove already.
// `npm run soak -- long` runs them.

export const longTests = [
  'test/acme/{account-key,crash,renewal,revocation}.test.ts',
  'test/acme/faults/*.test.ts',
  'test/boot/{install,soaks}.test.ts',
  'test/bulk/killed.test.ts',
  'test/cluster/{demo,drain,exact-limits,rounds,routes}.test.ts',
  'test/events/clouds/secrets.test.ts',
  'test/graphql/capture/answers.test.ts',
  'test/ops/{bus,inherited-sockets,upgrade-schema}.test.ts',
  'test/ops/failures/{crash,full-disk,lost-legs}.test.ts',
  'test/ops/monitoring/{logs,memory}.test.ts',
  'test/sign-in/{second-factor-key,tool}.test.ts',
  'test/store/database/migrations.test.ts',
  'test/store/embedded/start.test.ts',
  'test/store/tunnels/leg-histories.test.ts',
  'test/tunnel/herd.test.ts',
  'test/workers/{balance,control,moves,stop}.test.ts',
];

/** Tests that have more rounds there, or hold a quiet machine to a time. */
export const shortenedTests = [
  'test/boot/benchmarks.test.ts',
  'test/accounts/{idempotency,inactive-owner,other-account,roles}.test.ts',
  'test/acme/two-gateways.test.ts',
  'test/cluster/faults.test.ts',
  'test/clients/{calls,foreign-agent}.test.ts',
  'test/contract/{limits,operations}.test.ts',
  'test/contract/hostile/hostile.test.ts',
  'test/edge/http1/repeated.test.ts',
  'test/events/pipeline/{audit,gateways}.test.ts',
  'test/graphql/{provisioning,search}.test.ts',
  'test/lists/{changing,filter-property,many-rows}.test.ts',
  'test/live/{capture/restart,modules/each,pipeline/requests,policy/actions,traffic-events/sources}.test.ts',
  'test/ops/failures/stop-without-database.test.ts',
  'test/ops/{hints,peers}.test.ts',
  'test/policy/actions/circuit-breaker.test.ts',
  'test/security/who-may-ask.test.ts',
  'test/sign-in/start.test.ts',
  'test/store/tunnels/{bind-addresses,binds,offline-endpoints}.test.ts',
  'test/protocol/stream-ids.test.ts',
  'test/tunnel/{fault-proxy,slow-links,sdk-traffic,session-protocol,threaded-agents}.test.ts',
  'test/workers/{database-away,upgrade}.test.ts',
];
