// What is between visitors and the origin, by the name of the path: started, and where visitors come to.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stop } from '../api/processes.js';
import { TLS_PATHS } from './cases.js';
import { startAgent, startGateway, startSdk } from './gateway.js';
import { startHaproxy } from './haproxy.js';
import { makeIdentity } from './identity.js';
import { startProxy } from './nginx.js';
import { family } from './processes.js';
import { startSsh } from './ssh.js';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** @typedef {{ port: number, host: string, pids: number[][] }} Way `pids`: of each side, its processes. */
/** @typedef {Way & { tls?: Way | undefined }} Path `tls`: where visitors speak TLS. */
/** @typedef {{ dist: string, agent: string }} Programs the compiled gateway, a directory; the agent, a file. */
/** @typedef {Programs & { before?: Programs }} Builds the ones to measure, and those to hold them against. */
/** @typedef {{ gateway?: string[], agent?: string[] }} NodeArgs */

/**
 * @typedef {object} Setting
 * @property {string} directory
 * @property {(child: ChildProcess) => void} keep hears of each process.
 * @property {number} origin its port.
 * @property {boolean} speaksTls whether there are cases in which visitors do.
 */

export class Starter {
  #setting;
  /** @type {ChildProcess[]} */
  #ours = [];
  /** @type {import('./gateway.js').Gateway | undefined} */
  #gateway;
  /** @type {string | undefined} */
  #identityFile;

  /** @param {Setting} setting */
  constructor(setting) {
    this.#setting = setting;
  }

  /**
   * @param {string} name one of `PATHS`.
   * @param {Builds} programs
   * @param {NodeArgs} nodeArgs for gateway and agent.
   * @returns {Promise<Path | string>} why it is left out, when it is.
   */
  async start(name, programs, nodeArgs) {
    const { origin, keep } = this.#setting;
    const directory = join(this.#setting.directory, name);
    if (name === 'direct') return local({ port: origin });
    if (name === 'ssh') {
      const ssh = await startSsh(directory, origin, keep);
      return typeof ssh === 'string' ? ssh : local(ssh, ssh.server, ssh.client);
    }
    if (name === 'nginx' || name === 'haproxy') {
      const proxy = await (name === 'nginx' ? startProxy : startHaproxy)(directory, origin, this.#identity());
      if (!proxy) return `${name} is not installed`;
      keep(proxy.process);
      return local(proxy, proxy.process);
    }
    const { dist, agent } = name === 'before' ? (programs.before ?? {}) : programs;
    if (!dist || !agent) return 'no --before was given';
    mkdirSync(directory);
    return this.#startOurs(name, { directory, dist, agent }, nodeArgs);
  }

  /** Stops gateway and agents, which then write their profiles. */
  async stopGateway() {
    for (const child of this.#ours.splice(0)) await stop(child);
    if (this.#gateway) await stop(this.#gateway.process);
    this.#gateway = undefined;
  }

  /** @param {string} name @param {Programs & { directory: string }} programs @param {NodeArgs} nodeArgs */
  async #startOurs(name, { directory, dist, agent }, nodeArgs) {
    const { origin, keep, speaksTls } = this.#setting;
    const gateway = await this.#gatewayFor(name, dist, nodeArgs);
    const options = { directory, gateway, port: origin, keep, file: agent, nodeArgs: nodeArgs.agent };
    const way = this.#way(gateway, await (name === 'sdk' ? startSdk(options) : startAgent(options)));
    if (typeof way === 'string' || !speaksTls || !TLS_PATHS.includes(name)) return way;
    const inTls = { ...options, directory: join(directory, 'tls'), protocol: /** @type {const} */ ('https') };
    mkdirSync(inTls.directory);
    const tls = this.#way(gateway, await startAgent(inTls), gateway.httpsPort);
    return typeof tls === 'string' ? tls : { ...way, tls };
  }

  /**
   * @param {import('./gateway.js').Gateway} gateway @param {import('./gateway.js').Agent | string} agent
   * @returns {Way | string}
   */
  #way(gateway, agent, port = gateway.httpPort) {
    if (typeof agent === 'string') return agent;
    this.#ours.push(agent.process);
    return { port, host: agent.host, pids: [gateway.process, agent.process].map(family) };
  }

  /** The build before has one of its own. @param {string} name @param {string} dist @param {NodeArgs} nodeArgs */
  async #gatewayFor(name, dist, nodeArgs) {
    const { directory, keep } = this.#setting;
    if (name === 'before') return startGateway(join(directory, 'gateway-before'), dist, keep);
    this.#gateway ??= await startGateway(join(directory, 'gateway'), dist, keep, { nodeArgs: nodeArgs.gateway });
    return this.#gateway;
  }

  /** A certificate for proxies, where visitors are to speak TLS. */
  #identity() {
    const { speaksTls, directory } = this.#setting;
    if (speaksTls) this.#identityFile ??= makeIdentity(directory);
    return this.#identityFile;
  }
}

/**
 * On this machine, without a name.
 * @param {{ port: number, tlsPort?: number | undefined }} ports
 * @param {ChildProcess[]} sides
 * @returns {Path}
 */
function local({ port, tlsPort }, ...sides) {
  const pids = sides.map(family);
  const tls = tlsPort ? { port: tlsPort, host: `localhost:${tlsPort}`, pids } : undefined;
  return { port, host: `127.0.0.1:${port}`, pids, tls };
}
