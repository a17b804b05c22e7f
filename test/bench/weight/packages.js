// Which code the processes of a gateway have loaded.

import { readFileSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stop } from '../api/processes.js';
import { startDevice } from './agents.js';

/** @typedef {import('./gateway.js').Place} Place @typedef {import('./gateway.js').Role} Role */
/** @typedef {{ scripts: number, bytes: number }} Size */
/** @typedef {Map<string, Size>} Packages by name; the gateway's own code has the name `own code`. */

/** What a worker must not load: GraphQL, the database and its client, SDKs of clouds. */
const FORBIDDEN = /^(graphql|@graphql|@pothos|@prisma|prisma$|pg($|-)|@electric-sql|@aws|@smithy|aws-)/;
const HOOK = new URL('../../support/loaded-scripts.mjs', import.meta.url).href;
const OWN = 'own code';

/**
 * Starts a gateway that notes each script that it loads, has a visitor go to an agent at each worker, and ends it.
 * @param {Place} place @param {number} workers @param {number} origin the port.
 * @returns {Promise<Map<Role, Packages>>} what any process of that role has loaded.
 */
export async function loadedPackages(place, workers, origin) {
  const files = join(place.directory, 'scripts-%p');
  const env = { NODE_OPTIONS: `--import=${HOOK}`, LOADED_SCRIPTS_FILE: files };
  const gateway = await place.start(workers, env);
  const members = gateway.members();
  const device = await startDevice(place, gateway, origin);
  for (let visit = 0; visit < 20; visit++) await visitOnce(gateway.httpPort, device.host);
  const addons = new Map(members.map(({ pid }) => [pid, mappedAddons(pid)]));
  await stop(device.process);
  await gateway.stop();
  /** @type {Map<Role, Packages>} */
  const byRole = new Map();
  for (const { pid, role } of members) {
    const scripts = readFileSync(files.replace('%p', `${pid}`), 'utf8').split('\n');
    const packages = byRole.get(role) ?? new Map();
    byRole.set(role, packages);
    for (const [name, size] of packagesOf([...scripts, ...(addons.get(pid) ?? [])])) {
      const before = packages.get(name);
      if (!before || before.bytes < size.bytes) packages.set(name, size);
    }
  }
  return byRole;
}

/** The packages of a list that a worker must not have loaded. @param {Packages} packages */
export const forbidden = (packages) => [...packages.keys()].filter((name) => FORBIDDEN.test(name));

/** Native code, which is no script. @param {number} pid */
function mappedAddons(pid) {
  const paths = readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/ (\/\S+\.node)$/gm);
  return [...new Set([...paths].map(([, path]) => path ?? ''))];
}

/** @param {string[]} scripts paths and URLs; those of Node itself have others. @returns {Packages} */
function packagesOf(scripts) {
  /** @type {Packages} */
  const packages = new Map();
  const paths = scripts
    .map((url) => (url.startsWith('file:') ? fileURLToPath(url) : url))
    .map(withoutQuery)
    .flatMap(inputsOf);
  for (const path of new Set(paths.filter((one) => one.startsWith('/')))) {
    const name = path
      .split('/node_modules/')
      .slice(1)
      .at(-1)
      ?.match(/^(@[^/]+\/)?[^/]+/)?.[0];
    const size = packages.get(name ?? OWN) ?? { scripts: 0, bytes: 0 };
    size.scripts++;
    size.bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    packages.set(name ?? OWN, size);
  }
  return packages;
}

/** What a file of a bundle was made of; the file itself otherwise. @param {string} path */
function inputsOf(path) {
  const directory = dirname(path);
  if (!directory.endsWith('/dist/bundle')) return [path];
  /** @type {{ files: Record<string, string[]> }} */
  const { files } = JSON.parse(readFileSync(join(directory, 'inputs.json'), 'utf8'));
  return (files[path.slice(directory.length + 1)] ?? [path]).map((input) => join(directory, '../..', input));
}

/** @param {string} path */
const withoutQuery = (path) => path.replace(/[?#].*$/, '');

/** @param {number} port @param {string} host @returns {Promise<void>} */
function visitOnce(port, host) {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, headers: { host }, agent: false }, (response) => {
      response.resume().once('end', resolve);
      if (response.statusCode !== 200) reject(new Error(`a visitor was answered ${response.statusCode}`));
    }).once('error', reject);
  });
}
