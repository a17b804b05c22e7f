// `tunnel-gateway check`: says what would keep a gateway with this environment from starting, and what it would listen on. It changes
// nothing, so it may run beside a gateway.

import { X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { openListenerTls } from '../api/http/listener-tls.ts';
import { type Config, readConfig } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { openDirectory } from '../edge/tls/certificate-directory.ts';
import { explain } from '../process/explain.ts';
import { appliedMigrations, knownMigrations } from '../store/database/migrations.ts';
import { runTool } from './run-tool.ts';

/** The embedded database opens some 350 files at its first start. */
const DESCRIPTORS_MIN = 600;
const CONNECT_TIMEOUT_MS = 5000;
const SILENT = pino({ level: 'silent' });

/** What is wrong, for people. */
class Finding extends Error {}

/** @returns what is right, for people. @throws what is wrong. */
type Check = (config: Config) => Promise<string>;

await runTool(async () => {
  const root = packageRoot(import.meta.dirname);
  let config: Config;
  try {
    config = readConfig(process.env, root);
  } catch (error) {
    throw new Finding(explain(error));
  }
  const checks: [what: string, check: Check][] = [
    ['settings', async ({ workers, baseDomain }) => `${workers} worker${workers === 1 ? '' : 's'}, ${baseDomain}`],
    ['data', checkData],
    ['database', (config) => checkDatabase(config, join(root, 'prisma/migrations'))],
    ['certificates', checkCertificates],
    ['descriptors', checkDescriptors],
    ['ports', checkPorts],
  ];
  for (const [what, check] of checks) {
    const text = await check(config).then(
      (text) => `ok    ${what}: ${text}`,
      (error) => {
        process.exitCode = 1;
        return `WRONG ${what}: ${explain(error)}`;
      },
    );
    console.log(text.trimEnd());
  }
});

async function checkData({ dataDir }: Config): Promise<string> {
  let nearest = dataDir;
  let found = await statOf(nearest);
  while (!found) {
    nearest = dirname(nearest);
    found = await statOf(nearest);
  }
  if (!found.isDirectory()) throw new Finding(`${nearest} is no directory. Look at DATA_DIR.`);
  await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  return nearest === dataDir ? dataDir : `${dataDir} is made at the start`;
}

/** Undefined where nothing is. */
function statOf(path: string) {
  return stat(path).catch(() => undefined);
}

async function checkDatabase({ databaseUrl, dataDir }: Config, directory: string): Promise<string> {
  if (databaseUrl === undefined) return `embedded, in ${join(dataDir, 'db')}`;
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: string }>("SELECT current_setting('server_version') AS version");
    const [applied, known] = await Promise.all([appliedMigrations(client), knownMigrations(directory)]);
    const newer = applied.filter((name) => !known.includes(name));
    if (newer.length > 0) throw new Finding(`it is of a newer version of the gateway, which has ${newer.join(', ')}`);
    const missing = known.length - applied.length;
    return `PostgreSQL ${rows[0]?.version}; ${missing === 0 ? 'no migration is' : `${missing} migrations are`} to come`;
  } finally {
    await client.end();
  }
}

async function checkCertificates({ apiTls, tlsDir }: Config): Promise<string> {
  const found: string[] = [];
  if (typeof apiTls === 'object') {
    const { pair, close } = await openListenerTls(apiTls, SILENT);
    close();
    const { validTo } = new X509Certificate(pair.cert);
    if (Date.parse(validTo) < Date.now()) throw new Finding(`${apiTls.certFile} ended at ${validTo}`);
    found.push(`that of the API until ${validTo}`);
  }
  if (tlsDir) {
    const directory = await openDirectory(tlsDir, { log: SILENT, time: Date.now });
    const unusable = directory.unusable();
    directory.close();
    if (unusable > 0)
      throw new Finding(`${unusable} of the files in ${tlsDir} cannot be used; the log of a start says why`);
    found.push(`those in ${tlsDir}`);
  }
  return found.length > 0 ? found.join(', ') : 'none are given: the gateway makes its own';
}

/** Node has raised the limit as far as it may. Only Linux tells. */
async function checkDescriptors(): Promise<string> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const limit = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
  if (limit < DESCRIPTORS_MIN)
    throw new Finding(`this process may have ${limit}, and needs ${DESCRIPTORS_MIN}: raise LimitNOFILE= or ulimit -n`);
  return Number.isNaN(limit) ? 'the system tells no limit' : `${limit}, of which a visitor takes two`;
}

async function checkPorts(config: Config): Promise<string> {
  const { host, apiPort, adminPort, agentPort, httpPort, httpsPort } = config;
  const ports = Object.entries({ API: apiPort, ADMIN: adminPort, AGENT: agentPort, HTTP: httpPort, HTTPS: httpsPort });
  const told = ports.map(async ([name, port]) => {
    const address = `${name} ${host}:${port === 0 ? 'any' : port}`;
    return (await isFree(host, port)) ? address : `${address} (in use, by a gateway that runs or another program)`;
  });
  return (await Promise.all(told)).join(', ');
}

/** @throws when the system lets this process not listen there. */
async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ host, port }, resolve));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  } finally {
    server.close();
  }
}
