// What `diagnose --bundle` writes: all that somebody needs to know who is to help from afar, and no secret.

import { readdir, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { freemem, release, totalmem, uptime } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { writeProxy } from '../proxy/connect-through.ts';
import { replaceFile } from '../replace-file.ts';
import type { AgentConfig } from '../settings/config.ts';
import { writeAddress } from '../settings/host-address.ts';
import { parseState } from '../tunnels/state-format.ts';
import { version } from '../version.ts';

const SECRET = '<secret>';
/** How many lines of the log are taken. */
const LOG_LINES = 500;
/** How long the agent that runs may take to say how it is; milliseconds. */
const STATUS_TIMEOUT_MS = 2000;

/** What `diagnose` has found. */
export interface Diagnosis {
  isReachable: boolean;
  lines: readonly string[];
}

/** The file of the bundle cannot be written. */
export class BundleError extends Error {}

/** Writes the bundle, readable for its owner alone. @throws {BundleError} */
export async function writeBundle(file: string, config: AgentConfig, diagnosis: Diagnosis): Promise<void> {
  const bundle = {
    madeAt: new Date().toISOString(),
    versions: { agent: version, node: process.version, openssl: process.versions.openssl },
    machine: {
      ...{ platform: process.platform, release: release(), arch: process.arch, upForSeconds: Math.round(uptime()) },
      memoryBytes: { total: totalmem(), free: freemem() },
    },
    settings: settingsOf(config),
    diagnosis,
    files: await filesOf(config),
    state: await orFailure(stateOf(config)),
    status: await orFailure(statusOf(config)),
    log: await orFailure(logOf(config)),
  };
  await replaceFile(file, `${JSON.stringify(bundle, null, 1)}\n`, false).catch(({ message }: Error) => {
    throw new BundleError(`--bundle ${file} cannot be written: ${message}`);
  });
}

/** What cannot be had is told in its place. */
const orFailure = (part: Promise<unknown>) => part.catch(({ message }: Error) => ({ failure: message }));

const masked = (secret: string | null) => (secret ? SECRET : null);

function settingsOf({ authtoken, provisioning, apiToken, ca, proxyFor, forwardsTo, ...others }: AgentConfig): object {
  const proxies = others.gateways.map((gateway) => proxyFor(gateway));
  return {
    ...others,
    authtoken: masked(authtoken),
    provisioning: provisioning && { key: SECRET, api: provisioning.api.origin },
    apiToken: masked(apiToken),
    ca: ca === undefined ? null : `${ca.split('-----BEGIN CERTIFICATE-----').length - 1} certificates`,
    gateways: others.gateways.map(writeAddress),
    // Without the log-in.
    proxies: proxies.map((proxy) => proxy && writeProxy(proxy)),
    forwardsTo: forwardsTo.text,
  };
}

/** The files beside the state file. */
async function filesOf({ stateFile, logFile }: AgentConfig): Promise<object> {
  const directory = dirname(stateFile);
  const prefix = basename(stateFile).replace(/\.json$/, '');
  const names = await readdir(directory).catch(() => []);
  const paths = names.filter((name) => name.startsWith(prefix)).map((name) => join(directory, name));
  const facts = [...paths, ...(logFile ? [logFile.file] : [])].map(async (path) => {
    const { size, mode, mtime } = await stat(path);
    return [path, { bytes: size, mode: (mode & 0o777).toString(8), changedAt: mtime.toISOString() }] as const;
  });
  const all = await Promise.allSettled(facts);
  return Object.fromEntries(all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
}

/** Without what tunnels and sessions resume by, and without policies, which may have passwords. */
async function stateOf({ stateFile }: AgentConfig): Promise<object> {
  const { identity, tunnels, endpoints, api } = parseState(await readFile(stateFile, 'utf8'));
  return {
    hasIdentity: identity !== null,
    tunnels: tunnels.map(({ policy, resume, ...shown }) => ({ ...shown, isResumed: resume !== null })),
    endpoints: Object.fromEntries(Object.entries(endpoints).map(([name, { url }]) => [name, url])),
    api: api?.url ?? null,
  };
}

/** What the agent that runs says of itself; it may be another one that has its address. */
function statusOf({ apiAddress, apiToken }: AgentConfig): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = apiToken === null ? {} : { authorization: `Bearer ${apiToken}` };
    const { host, port } = apiAddress;
    if (port === 0) throw new Error('AGENT_API_ADDR names no port at which a running agent could be asked');
    const signal = AbortSignal.timeout(STATUS_TIMEOUT_MS);
    const asked = request({ host, port, path: '/status', headers, signal }, (response) => {
      json(response).then(resolve, reject);
    });
    asked.on('error', reject).end();
  });
}

async function logOf({ logFile }: AgentConfig): Promise<unknown> {
  if (!logFile) throw new Error('LOG_FILE is not set: the log is where standard error leads');
  const { file, keep } = logFile;
  const older = keep > 0 ? await readFile(`${file}.1`, 'utf8').catch(() => '') : '';
  const lines = `${older}${await readFile(file, 'utf8')}`.trimEnd().split('\n');
  return lines.slice(-LOG_LINES);
}
