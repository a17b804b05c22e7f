// A gateway with many endpoints. It creates, changes and deletes rows in its database as if many agents were connected,
// and prints the same lines at its start as the gateway, so that gateway.js can start it.

const ENDPOINTS = 10_000;
/** How many of them have traffic, in each minute of the last hour. */
const VISITED = 1000;
const FAILING = 20;
const BATCH = 500;
const CHANGES_PER_SECOND = 50;
const TICK_MS = 200;
/** How many endpoints each tick creates, and how many it deletes; the other changes are updates. */
const CREATED_PER_TICK = 2;

const root = new URL('../../../', import.meta.url);
const dist = (/** @type {string} */ file) => import(new URL(`dist/${file}`, root).href);
const [{ readConfig }, { startGateway }, { openLog }, { newId }, { addDuration, encodeSketch, newSketch }] =
  await Promise.all(
    [
      'config/config.js',
      'gateway/gateway.js',
      'monitoring/log.js',
      'store/ids.js',
      'edge/metrics/duration-sketch.js',
    ].map(dist),
  );

const config = readConfig(process.env, root.pathname);
const gateway = await startGateway(config, {
  log: openLog(config, (/** @type {string} */ line) => void process.stderr.write(line)),
  migrations: new URL('prisma/migrations', root).pathname,
  dashboard: new URL('dist/dashboard', root).pathname,
  onFatal: (/** @type {string} */ text) => {
    throw new Error(text);
  },
});
const { prisma, changes } = gateway.app;
const { accountId } = await prisma.owner.findFirstOrThrow({ where: { subject: 'admin@localhost' } });
const node = await prisma.node.findFirstOrThrow();
const sessionId = newId('ts');
await prisma.tunnelSession.create({
  data: { id: sessionId, accountId, nodeId: node.id, clientId: 'crowd', agentVersion: '0.0.0', ip: '192.0.2.1' },
});

/** @type {{ id: string, tunnelId: string }[]} */
const endpoints = [];
let count = 0;
while (endpoints.length < ENDPOINTS) await createEndpoints(BATCH);
await createTraffic();

process.stdout.write(`API key: ${gateway.first?.apiKey}\n`);
process.stdout.write(`ready api=${gateway.addresses.api} https=${gateway.addresses.https}\n`);
process.stdout.write(`Dashboard: ${gateway.addresses.api}/dashboard/sign-in#${gateway.signInToken}\n`);

let isBusy = false;
const clock = setInterval(async () => {
  if (isBusy) return; // A slow machine makes fewer changes; the test counts those that arrive.
  isBusy = true;
  const perTick = (CHANGES_PER_SECOND * TICK_MS) / 1000;
  const made = [
    ...(await updateEndpoints(perTick - 2 * CREATED_PER_TICK)),
    ...(await deleteEndpoints(CREATED_PER_TICK)),
    ...(await createEndpoints(CREATED_PER_TICK)),
  ];
  await changes.publishHints(made);
  isBusy = false;
}, TICK_MS);
process.on('SIGTERM', async () => {
  clearInterval(clock);
  await gateway.close();
  process.exit(0);
});

/** Writes the figures of an hour as if they had been counted and summed up to minutes. */
async function createTraffic() {
  const durations = newSketch();
  for (let milliseconds = 1; milliseconds < 300; milliseconds += 1) addDuration(durations, milliseconds);
  const sketch = encodeSketch(durations);
  const ids = endpoints.slice(0, VISITED).map(({ id }) => id);
  const until = new Date(Math.floor(Date.now() / 60_000) * 60_000);
  await prisma.$executeRaw`
    INSERT INTO traffic_task (name, until, holder, lease_until) VALUES ('minutes', ${until}, '', now())
    ON CONFLICT (name) DO UPDATE SET until = excluded.until`;
  await prisma.$executeRaw`
    INSERT INTO traffic_stat (resolution, at, subject_id, writer, account_id, unanswered, informational, success,
      redirection, client_error, server_error, failures, connections, bytes_in, bytes_out, open_connections, duration_ms,
      durations, first_bytes)
    SELECT 60, ${until}::timestamptz - minute * interval '1 minute', id, 'crowd', ${accountId}::text, 0, 0, 40 + minute % 7, 3, 2,
      minute % 3, minute % 3, 0, 20000, 400000, 2, 45000, ${sketch}::bytea, ${sketch}::bytea
    FROM unnest(${[...ids, accountId]}::text[]) id, generate_series(1, 60) minute`;
  await prisma.endpointHealth.createMany({
    data: ids.slice(0, FAILING).map((endpointId) => {
      const now = new Date();
      return { endpointId, accountId, failing: true, since: new Date(now.getTime() - 300_000), visitedAt: now };
    }),
  });
}

/** @param {number} many */
async function createEndpoints(many) {
  const added = Array.from({ length: many }, () => ({ id: newId('ep'), tunnelId: newId('tn') }));
  const urls = added.map(() => {
    count += 1;
    return `app-${count}.tunnel.localhost`;
  });
  const common = { accountId, proto: 'https' };
  await prisma.tunnel.createMany({
    data: added.map(({ tunnelId }, at) => ({ ...common, id: tunnelId, sessionId, publicUrl: `https://${urls[at]}` })),
  });
  await prisma.endpoint.createMany({
    data: added.map(({ id, tunnelId }, at) => ({
      ...common,
      id,
      tunnelId,
      nodeId: node.id,
      type: 'EPHEMERAL',
      publicUrl: `https://${urls[at]}`,
      hostport: `${urls[at]}:443`,
      address: urls[at],
    })),
  });
  endpoints.push(...added);
  return added.map(({ id }) => changeOf('CREATED', id));
}

/** @param {number} many */
async function deleteEndpoints(many) {
  const deleted = Array.from({ length: many }, () =>
    endpoints.splice(Math.floor(Math.random() * endpoints.length), 1),
  ).flat();
  await prisma.tunnel.deleteMany({ where: { id: { in: deleted.map(({ tunnelId }) => tunnelId) } } });
  return deleted.map(({ id }) => changeOf('DELETED', id));
}

/** @param {number} many */
async function updateEndpoints(many) {
  const ids = Array.from({ length: many }, () => endpoints[Math.floor(Math.random() * endpoints.length)]?.id ?? '');
  const data = { metadata: `changed at ${Date.now()}`, updatedAt: new Date() };
  await prisma.endpoint.updateMany({ where: { id: { in: ids } }, data });
  return ids.map((id) => changeOf('UPDATED', id));
}

/** @param {'CREATED' | 'UPDATED' | 'DELETED'} action @param {string} id */
function changeOf(action, id) {
  return { kind: 'endpoint', action, id, accountId };
}
