// The client's HTTP/2: requests. It is Node's, which costs the visitor the same whatever serves it.

import { connect as connectHttp2 } from 'node:http2';

/** So many requests at a time on one connection. @param {import('./load.js').Job} job @param {number} until @param {number[]} times */
export async function requestsHttp2(job, until, times) {
  const servername = job.host.replace(/:\d+$/, '');
  const options = { port: job.port, host: '127.0.0.1', servername, rejectUnauthorized: false };
  const session = connectHttp2(`https://${servername}:${job.port}`, options);
  session.on('error', () => {}); // Its requests tell.
  const fields = { ':path': job.path, ':authority': job.host };
  const ask = () =>
    new Promise((resolve, reject) => {
      let left = job.bytes;
      const stream = session.request(fields, { endStream: true });
      stream.on('response', ({ ':status': status }) => {
        if (status !== 200) reject(new Error(`answered with ${status}`));
      });
      stream.on('data', (chunk) => {
        left -= chunk.length;
      });
      stream.on('error', reject);
      stream.on('close', () => (left === 0 ? resolve(undefined) : reject(new Error('an answer is too short'))));
    });
  const converse = async () => {
    // One at least, however late the start was: without any, nothing was looked at.
    do {
      const sent = performance.now();
      await ask();
      times.push(performance.now() - sent);
    } while (performance.now() < until);
  };
  try {
    await Promise.all(Array.from({ length: job.connections }, converse));
  } finally {
    session.close();
  }
}
