// The gateway as it is started for real, and agents in front of the origin: ours, and the SDK of the field.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayProgram } from '../api/processes.js';
import { launch } from './processes.js';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * @typedef {object} Gateway
 * @property {ChildProcess} process
 * @property {string} address where agents connect, `host:port`.
 * @property {number} httpPort
 * @property {number} httpsPort
 * @property {string} authtoken
 * @property {string} ca a file.
 */

/**
 * @param {string} directory of its own, for all that it keeps; must not exist.
 * @param {string} dist the compiled gateway.
 * @param {(child: ChildProcess) => void} keep hears of the process.
 * @param {object} [options]
 * @param {string[]} [options.nodeArgs]
 * @param {boolean} [options.ipc] whether messages can be sent to it.
 * @returns {Promise<Gateway>}
 */
export async function startGateway(directory, dist, keep, { nodeArgs = [], ipc = false } = {}) {
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    API_PORT: '0',
    ADMIN_PORT: '0',
    AGENT_PORT: '0',
    HTTP_PORT: '0',
    HTTPS_PORT: '0',
    TCP_PORTS: '0',
    LOG_LEVEL: 'warn',
    DATA_DIR: directory,
  };
  const file = gatewayProgram(dist);
  const logFile = `${directory}.log`;
  const child = await launch(process.execPath, [...nodeArgs, file], { env, logFile, until: /^ready /, ipc });
  keep(child.process);
  const text = child.lines.join('\n');
  const said = (/** @type {RegExp} */ pattern) => {
    const value = pattern.exec(text)?.[1];
    if (!value) throw new Error(`The gateway did not print ${pattern}:\n${text}`);
    return value;
  };
  return {
    process: child.process,
    address: said(/^ready .*\bagent=(\S+)/m),
    httpPort: Number(said(/^ready .*\bhttp=\S*:(\d+)/m)),
    httpsPort: Number(said(/^ready .*\bhttps=\S*:(\d+)/m)),
    authtoken: said(/^Authtoken: (\S+)/m),
    ca: join(directory, 'ca.pem'),
  };
}

/**
 * @typedef {object} AgentOptions
 * @property {string} directory of its own.
 * @property {Gateway} gateway
 * @property {string} [address] where it connects, when not to the gateway itself.
 * @property {number} port of the origin.
 * @property {(child: ChildProcess) => void} keep
 * @property {string[]} [nodeArgs]
 * @property {string[]} [args] of our agent, behind the port.
 * @property {'http' | 'https'} [protocol] that visitors of our agent speak.
 */

/** @typedef {{ process: ChildProcess, host: string }} Agent `host`: what visitors put into the Host header. */

/**
 * Starts our agent.
 * @param {AgentOptions & { file: string }} options `file`: the agent's program.
 * @returns {Promise<Agent | string>} why there is none, where there is none.
 */
export async function startAgent({
  directory,
  gateway,
  address = gateway.address,
  port,
  keep,
  nodeArgs = [],
  args = [],
  protocol = 'http',
  file,
}) {
  if (!existsSync(file)) return `the agent is not built (${file})`;
  return forwarding([...nodeArgs, file, protocol, `${port}`, ...args], directory, keep, {
    TUNNEL_AUTHTOKEN: gateway.authtoken,
    GATEWAY_ADDR: address,
    GATEWAY_CA: gateway.ca,
    AGENT_STATE_FILE: join(directory, 'state.json'),
    LOG_LEVEL: 'warn',
  });
}

/** Starts an agent on the SDK. @param {AgentOptions} options @returns {Promise<Agent | string>} */
export async function startSdk({ directory, gateway, port, keep }) {
  const { authtoken, address, ca } = gateway;
  try {
    import.meta.resolve('@ngrok/ngrok');
  } catch {
    return 'the SDK is not installed';
  }
  const settings = { addr: port, authtoken, server_addr: address, session_ca_cert: readFileSync(ca, 'utf8') };
  const file = join(import.meta.dirname, 'sdk-agent.js');
  return forwarding([file], directory, keep, { SDK_SETTINGS: JSON.stringify(settings) });
}

/**
 * @param {string[]} args
 * @param {string} directory
 * @param {(child: ChildProcess) => void} keep
 * @param {Record<string, string>} env
 * @returns {Promise<Agent>}
 */
async function forwarding(args, directory, keep, env) {
  const pattern = /^forwarding (\S+) -> /;
  const child = await launch(process.execPath, args, { env, logFile: join(directory, 'log'), until: pattern });
  keep(child.process);
  const url = child.lines.map((line) => pattern.exec(line)?.[1]).find(Boolean) ?? '';
  return { process: child.process, host: new URL(url).host };
}
