// Starts a gateway for the browser tests: the real process, on free ports, with data that is deleted at the end.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startMailServer } from './mail-server.js';

export const root = join(import.meta.dirname, '../../..');

/**
 * @typedef {object} RunningGateway
 * @property {string} api the base URL of the API
 * @property {string} apiKey
 * @property {string} https host and port
 * @property {string} signInLink
 * @property {string} agentLine the command that starts an agent, for `startAgent`
 * @property {import('./mail-server.js').Mail[]} mails what it has sent, in one list that grows
 * @property {() => string} log everything that it has logged so far
 * @property {() => Promise<void>} stop
 */

/**
 * @param {string} [program] the program, relative to the root. It prints the same lines at its start as the gateway.
 * @param {Record<string, string>} [more] what is set, too
 * @returns {Promise<RunningGateway>}
 */
export async function startGateway(program = 'dist/bundle/main.js', more = {}) {
  const mailServer = await startMailServer();
  const data = mkdtempSync(join(tmpdir(), 'gateway-browser-'));
  const ports = { API_PORT: '0', ADMIN_PORT: '0', AGENT_PORT: '0', HTTP_PORT: '0', HTTPS_PORT: '0', TCP_PORTS: '0' };
  const env = {
    PATH: process.env.PATH,
    ...ports,
    DATA_DIR: data,
    DRAIN_MS: '500',
    LOG_LEVEL: 'trace',
    SMTP_URL: mailServer.url,
    SMTP_FROM: 'gateway@example.com',
    // Its agents do not have to come back first, as after an upgrade.
    ALERT_GRACE_MS: '0',
    EVENT_WEBHOOK_HOSTS: 'hooks.invalid',
    // A service of static backends is on this machine, too.
    BACKEND_HOSTS: '127.0.0.1',
    // The identity provider of visitors is on this machine.
    POLICY_FETCH: 'any',
    // No question leaves the machine: nobody answers there.
    DNS_SERVERS: '127.0.0.1:9',
    ...more,
  };
  const child = spawn(process.execPath, [join(root, program)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    mailServer.close();
    rmSync(data, { recursive: true, force: true });
  };
  const printed = { api: '', apiKey: '', https: '', signInLink: '', agentLine: '' };
  for await (const line of createInterface({ input: child.stdout })) {
    printed.apiKey ||= /^API key: (\S+)$/.exec(line)?.[1] ?? '';
    printed.api ||= /^ready .*\bapi=(\S+)/.exec(line)?.[1] ?? '';
    printed.https ||= /^ready .*\bhttps=(\S+)/.exec(line)?.[1] ?? '';
    printed.agentLine ||= /^ +(\S.*npm run agent -- .*)$/.exec(line)?.[1] ?? '';
    printed.signInLink = /^Dashboard: (\S+)$/.exec(line)?.[1] ?? '';
    if (!printed.signInLink) continue;
    child.stdout.resume();
    return { ...printed, mails: mailServer.mails, log: () => log, stop };
  }
  await stop();
  throw new Error(`the gateway ended before it was ready\n${log}`);
}
