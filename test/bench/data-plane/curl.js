// Uploads over TLS, by curl: the client of most who upload, and one that stops whenever it has used up a window.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One upload may take so long: it is stuck, or not worth waiting for. Seconds. */
const UPLOAD_SECONDS = 120;

/** @typedef {import('./load.js').Job} Job @typedef {import('./load.js').Outcome} Outcome */

export class Curl {
  #program;
  /** @type {string | undefined} */
  #directory;

  /** @param {string} program */
  constructor(program) {
    this.#program = program;
  }

  /** @param {Job} job @returns {Promise<Outcome>} @throws {Error} where it was not answered with 200. */
  async upload({ port, host, path, bytes, over }) {
    const args = ['-sSk', over === 'h2' ? '--http2' : '--http1.1', '--max-time', `${UPLOAD_SECONDS}`];
    const name = host.replace(/:\d+$/, '');
    const to = ['--resolve', `${name}:${port}:127.0.0.1`, '-H', `Host: ${host}`, `https://${name}:${port}${path}`];
    const body = ['-X', 'POST', '-H', 'Expect:', '-T', this.#fileOf(bytes), '-o', '/dev/null'];
    const said = '%{http_version} %{http_code} %{size_upload} %{time_total}';
    const child = spawn(this.#program, [...args, ...body, '-w', said, ...to], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk) => {
        text += chunk;
      });
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    const [version, status, sent, seconds] = text.split(' ').map(Number);
    if (version !== (over === 'h2' ? 2 : 1.1) || status !== 200 || sent !== bytes || !seconds)
      throw new Error(`curl has not uploaded ${bytes} bytes over ${over}: ${text}`);
    return { requests: 1, seconds, p50: seconds * 1000, p99: seconds * 1000 };
  }

  stop() {
    if (this.#directory) rmSync(this.#directory, { recursive: true });
  }

  /** A hole of that size: it is read like any file, and takes no disk. @param {number} bytes */
  #fileOf(bytes) {
    this.#directory ??= mkdtempSync(join(tmpdir(), 'gateway-upload-'));
    const file = join(this.#directory, `${bytes}`);
    writeFileSync(file, '', { flag: 'a' });
    truncateSync(file, bytes);
    return file;
  }
}
