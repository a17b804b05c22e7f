// One gateway of the benchmark, in a process of its own. It binds names through its registrar, as its agents' sessions do.
//
// Arguments: the compiled gateway. It is told `{ binds, ms }`, binds so many names at once for so long, and answers `{ bound, ms }`.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = process.argv[2] ?? '';
const load = (/** @type {string} */ file) => import(pathToFileURL(join(dist, file)).href);
const [{ readConfig }, { startGateway }, { openLog }] = await Promise.all(
  ['config/config.js', 'gateway/gateway.js', 'monitoring/log.js'].map(load),
);

const root = join(dist, '..');
const config = readConfig(process.env, root);
const gateway = await startGateway(config, {
  log: openLog(config, (/** @type {string} */ line) => void process.stderr.write(line)),
  migrations: join(root, 'prisma/migrations'),
  onFatal(/** @type {string} */ text) {
    throw new Error(text);
  },
});
const { prisma } = gateway.app;
const { registrar } = gateway;
const { id: credentialId, accountId } = await prisma.credential.findFirstOrThrow();

const openSession = () =>
  registrar.sessionOpened({
    clientId: randomBytes(16).toString('hex'),
    leg: 0,
    agentVersion: '1.0.0',
    ip: '127.0.0.1',
    os: 'linux',
    arch: 'x64',
    userAgent: 'benchmark',
    ingress: { serverIp: '127.0.0.1', hostname: 'localhost' },
    metadata: '',
    transport: 'muxado/2',
    accountId,
    credentialId,
  });

/** @param {string} sessionId */
async function bind(sessionId) {
  const hostname = `${randomBytes(10).toString('hex')}.${config.baseDomain}`;
  const answer = await registrar.bind({
    sessionId,
    resume: null,
    proto: 'http',
    hostname,
    port: 80,
    isGenerated: true,
    publicUrl: `http://${hostname}`,
    pooling: false,
    forwardsTo: 'http://localhost:3000',
    metadata: '',
  });
  if ('refused' in answer) throw new Error(`a bind was refused: ${JSON.stringify(answer)}`);
}

process.on('disconnect', () => process.exit(1));
process.on('message', async (/** @type {{ binds: number, ms: number }} */ job) => {
  const sessionId = await openSession();
  const begun = performance.now();
  let bound = 0;
  const agent = async () => {
    while (performance.now() - begun < job.ms) {
      await bind(sessionId);
      bound++;
    }
  };
  await Promise.all(Array.from({ length: job.binds }, agent));
  const ms = performance.now() - begun;
  await registrar.sessionClosed(sessionId, 0);
  process.send?.({ bound, ms });
});
process.send?.('ready');
