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
  const data = mkdtempSync(join(tmpdir(), 'gateway-browser-agent-'));
  const whole = line.replace(/-- .*$/, `-- ${command.replace('3000', String(port))}`);
  let output = '';
  const child = spawn('/bin/sh', ['-c', whole], {
    cwd: root,
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
