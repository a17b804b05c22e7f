// `ssh -R` through an sshd of our own: on a port of the loopback, with keys and settings that end with the run.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { find, freePort, launch } from './processes.js';

/** Where an sshd that runs as root puts away the processes that are not trusted; a service would have made it. */
const SEPARATED = '/run/sshd';

/**
 * @param {string} directory an empty one of its own.
 * @param {number} origin the port that is forwarded to.
 * @param {(child: import('node:child_process').ChildProcess) => void} started hears of each process.
 * @returns {Promise<{ port: number, server: import('node:child_process').ChildProcess,
 *   client: import('node:child_process').ChildProcess } | string>} why there is none, where it cannot be had.
 */
export async function startSsh(directory, origin, started) {
  const [sshd, ssh, keygen] = [find('sshd'), find('ssh'), find('ssh-keygen')];
  if (!sshd || !ssh || !keygen) return 'sshd, ssh or ssh-keygen is not installed';
  if (process.getuid?.() === 0 && !existsSync(SEPARATED))
    return `sshd needs the directory ${SEPARATED}: mkdir ${SEPARATED}`;

  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = (/** @type {string} */ name) => join(directory, name);
  for (const key of ['host', 'user']) execFileSync(keygen, ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
  writeFileSync(file('authorized'), `restrict,port-forwarding ${readFileSync(file('user.pub'), 'utf8')}`);
  const [door, port] = [await freePort(), await freePort()];
  writeFileSync(file('known'), `[127.0.0.1]:${door} ${readFileSync(file('host.pub'), 'utf8')}`);
  writeFileSync(
    file('sshd_config'),
    `ListenAddress 127.0.0.1:${door}
HostKey ${file('host')}
AuthorizedKeysFile ${file('authorized')}
StrictModes no
UsePAM no
PidFile none
PermitRootLogin prohibit-password
AuthenticationMethods publickey
`,
  );

  const { process: server } = await launch(sshd, ['-D', '-e', '-f', file('sshd_config')], {
    logFile: file('sshd.log'),
    until: door,
  });
  started(server);
  const options = [
    `UserKnownHostsFile=${file('known')}`,
    'StrictHostKeyChecking=yes',
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'BatchMode=yes',
    'ExitOnForwardFailure=yes',
  ];
  const forward = ['-N', '-R', `127.0.0.1:${port}:127.0.0.1:${origin}`, '-p', `${door}`, '127.0.0.1'];
  const args = ['-F', 'none', '-i', file('user'), ...options.flatMap((option) => ['-o', option]), ...forward];
  const { process: client } = await launch(ssh, args, { logFile: file('ssh.log'), until: port });
  started(client);
  return { port, server, client };
}
