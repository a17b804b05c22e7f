// A gateway with many endpoints, in whose database rows come, change and go as if a crowd of agents were there. It
// prints the lines that a start prints, so that gateway.js can start it as it starts the gateway itself.

const ENDPOINTS = 10_000;
const BATCH = 500;
const CHANGES_PER_SECOND = 50;
const TICK_MS = 200;
/** Of the changes of a tick: so many come, as many go, and the others change. */
const COMING = 2;

const root = new URL('../../', import.meta.url);
const dist = (/** @type {string} */ file) => import(new URL(`dist/${file}`, root).href);
const [{ readConfig }, { startGateway }, { openLog }, { newId }] = await Promise.all(
  ['config.js', 'gateway.js', 'log.js', 'store/ids.js'].map(dist),
);

const config = readConfig(process.env, root.pathname);
const gateway = await startGateway(config, {
  log: openLog(config),
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
const crowd = [];
let count = 0;
while (crowd.length < ENDPOINTS) await come(BATCH);

process.stdout.write(`API key: ${gateway.first?.apiKey}\n`);
process.stdout.write(`ready api=${gateway.addresses.api} https=${gateway.addresses.https}\n`);
process.stdout.write(`Dashboard: ${gateway.addresses.api}/dashboard/sign-in#${gateway.signInToken}\n`);

let isBusy = false;
const clock = setInterval(async () => {
  if (isBusy) return; // A slow machine has fewer changes: how many there were is counted where they arrive.
  isBusy = true;
  const perTick = (CHANGES_PER_SECOND * TICK_MS) / 1000;
  const told = [...(await change(perTick - 2 * COMING)), ...(await go(COMING)), ...(await come(COMING))];
  await changes.tell(prisma, told);
  isBusy = false;
}, TICK_MS);
process.on('SIGTERM', async () => {
  clearInterval(clock);
  await gateway.close();
  process.exit(0);
});

/** @param {number} many */
async function come(many) {
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
  crowd.push(...added);
  return added.map(({ id }) => told('CREATED', id));
}

/** @param {number} many */
async function go(many) {
  const gone = Array.from({ length: many }, () => crowd.splice(Math.floor(Math.random() * crowd.length), 1)).flat();
  await prisma.tunnel.deleteMany({ where: { id: { in: gone.map(({ tunnelId }) => tunnelId) } } });
  return gone.map(({ id }) => told('DELETED', id));
}

/** @param {number} many */
async function change(many) {
  const ids = Array.from({ length: many }, () => crowd[Math.floor(Math.random() * crowd.length)]?.id ?? '');
  const data = { metadata: `changed at ${Date.now()}`, updatedAt: new Date() };
  await prisma.endpoint.updateMany({ where: { id: { in: ids } }, data });
  return ids.map((id) => told('UPDATED', id));
}

/** @param {'CREATED' | 'UPDATED' | 'DELETED'} action @param {string} id */
function told(action, id) {
  return { kind: 'endpoint', action, id, accountId };
}
