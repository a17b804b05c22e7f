// The memory of a node for what others serve: bounded, and small for each name.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { newCredential } from '../support/agents/live.ts';
import { onServer } from '../support/gateway/gateway.ts';
import { startCluster } from './support.ts';

const NAMES = Number(process.env.ROUTES ?? 32_000);
const WARM_UP = 2000;
const LOOKUPS_AT_ONCE = 2000;
/** 100,000 names in 25 MB. */
const BYTES_PER_NAME_MAX = (25 * 2 ** 20) / 100_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test.runIf(onServer)(
  'the routes of names take at most 25 MB for 100,000, and each leads to the tunnel that has the name',
  {
    timeout: 180_000,
  },
  async () => {
    const cluster = await startCluster(1);
    onTestFinished(() => cluster.close());
    const { app, registrar } = cluster.gateways[0] as (typeof cluster.gateways)[number];
    const { accountId, credentialId } = await newCredential(cluster.account);
    const [nodeId, sessionId] = [newId('node'), newId('ts')];
    await app.prisma.$executeRaw`
    INSERT INTO node (id, address, lease_until) VALUES (${nodeId}, '127.0.1.9:4444', now() + interval '1 hour')`;
    await app.prisma.$executeRaw`
    INSERT INTO tunnel_session (id, account_id, node_id, credential_id, client_id)
    VALUES (${sessionId}, ${accountId}, ${nodeId}, ${credentialId}, 'one')`;
    await app.prisma.$executeRaw`
    INSERT INTO tunnel (id, account_id, session_id, proto, public_url)
    SELECT 'tn_' || lpad(i::text, 27, '0'), ${accountId}, ${sessionId}, 'http', 'http://x' FROM generate_series(1, ${NAMES}) AS i`;
    await app.prisma.$executeRaw`
    INSERT INTO endpoint (id, account_id, node_id, type, proto, public_url, hostport, address, tunnel_id)
    SELECT 'ep_' || lpad(i::text, 27, '0'), ${accountId}, ${nodeId}, 'EPHEMERAL', 'http', 'http://x', 'x:80',
      'http:device-' || i || '.tunnel.localhost', 'tn_' || lpad(i::text, 27, '0') FROM generate_series(1, ${NAMES}) AS i`;

    const lookUp = (i: number) => registrar.lookUp({ listener: 'http', hostname: `device-${i}.tunnel.localhost` });
    const lookUpAll = async (from: number, to: number) => {
      for (let first = from; first <= to; first += LOOKUPS_AT_ONCE) {
        const some = Array.from({ length: LOOKUPS_AT_ONCE }, (_, at) => first + at);
        const found = await Promise.all(some.map(lookUp));
        expect(found.map(({ routes }) => routes[0]?.tunnelId)).toEqual(
          some.map((i) => `tn_${String(i).padStart(27, '0')}`),
        );
      }
    };
    // What the first ones take is not for each.
    await lookUpAll(1, WARM_UP);
    collect();
    const before = process.memoryUsage().heapUsed;
    await lookUpAll(WARM_UP + 1, NAMES);
    collect();
    expect((process.memoryUsage().heapUsed - before) / (NAMES - WARM_UP)).toBeLessThan(BYTES_PER_NAME_MAX);
    expect(registrar.lookups.misses).toBe(NAMES);
    await lookUp(NAMES);
    expect([registrar.lookups.hits, registrar.lookups.misses]).toEqual([1, NAMES]);
  },
);
