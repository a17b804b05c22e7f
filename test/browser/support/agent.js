// Starts an agent with exactly the command that the dashboard shows.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './gateway.js';

/**
 * @param {string} line the command as it is shown, with port 3000.
 * @param {number} port the port of the real upstream.
 * @param {string} [command] what the agent serves instead of `http 3000`.
 */
export function startAgent(line, port, command = 'http 3000') {
  return run(line.replace(/(-- |agent\.js )[^/]*$/, `$1${command.replace('3000', String(port))}`));
}

/**
 * Starts a device that has the line of an image.
 * @param {string} line the command as it is shown.
 * @param {string} agentLine a command that is shown on this machine, with the file of the authority.
 * @param {string} name what the device calls itself.
 */
export function startDevice(line, agentLine, name) {
  const [authority = ''] = /GATEWAY_CA=\S+/.exec(agentLine) ?? [];
  return run(`export AGENT_NAME=${name}; ${line.replace(/GATEWAY_CA=\S+/, authority)}`);
}

/** @param {string} whole */
function run(whole) {
  const data = mkdtempSync(join(tmpdir(), 'gateway-browser-agent-'));
  let output = '';
  const child = spawn('/bin/sh', ['-c', whole], {
    // Only the line that the gateway prints is for a checkout; the others download the agent to where they are run.
    cwd: whole.includes('npm run agent') ? root : data,
    // A process group of its own, because npm runs between the shell and the agent.
    detached: true,
    env: { ...process.env, AGENT_API_ADDR: '127.0.0.1:0', AGENT_STATE_FILE: join(data, 'tunnels.json') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const ended = once(child, 'close');
  /** @param {NodeJS.Signals} signal */
  const signal = (signal) => {
    if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, signal);
  };
  return {
    output: () => output,
    signal,
    async stop() {
      signal('SIGCONT');
      signal('SIGKILL');
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}
