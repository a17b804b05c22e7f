// A gateway with many endpoints. It creates, changes and deletes rows in its database as if many agents were connected,
// and prints the same lines at its start as the gateway, so that gateway.js can start it.

const ENDPOINTS = 10_000;
const BATCH = 500;
const CHANGES_PER_SECOND = 50;
const TICK_MS = 200;
/** How many endpoints each tick creates, and how many it deletes; the other changes are updates. */
const CREATED_PER_TICK = 2;

const root = new URL('../../../', import.meta.url);
const dist = (/** @type {string} */ file) => import(new URL(`dist/${file}`, root).href);
const [{ readConfig }, { startGateway }, { openLog }, { newId }] = await Promise.all(
  ['config/config.js', 'gateway/gateway.js', 'monitoring/log.js', 'store/ids.js'].map(dist),
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
