// The client, a process of its own: connections, each sending its next request when the answer to the last is
// whole. It reads no more of HTTP than that takes, so as to leave the processors to the servers.

import { connect } from 'node:net';

/**
 * @typedef {object} Job
 * @property {number} port
 * @property {string} request head and body as they are sent; `%ID%` stands for one of `ids`, `%N%` for any six digits.
 * @property {string[]} ids
 * @property {number} status that every answer must have.
 * @property {number} leastBytes of every answer's body: a short one is an error in disguise.
 * @property {number} connections
 * @property {number} ms
 * @property {number} [calls] the most requests of all connections together.
 */

/** @typedef {{ requests: number, seconds: number, p99: number } | { error: string }} Outcome */

process.on('message', (/** @type {Job} */ job) => {
  run(job).then(
    (outcome) => process.send?.(outcome),
    (error) => process.send?.({ error: error.message }),
  );
});

/** @param {Job} job @returns {Promise<Outcome>} */
async function run(job) {
  /** @type {number[]} */
  const times = [];
  const started = performance.now();
  let left = job.calls ?? Number.POSITIVE_INFINITY;
  const isOver = () => performance.now() >= started + job.ms || left-- <= 0;
  await Promise.all(Array.from({ length: job.connections }, () => converse(job, isOver, times)));
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  return { requests: times.length, seconds, p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN };
}

/**
 * One connection, with at least one request.
 * @param {Job} job
 * @param {() => boolean} isOver whether there is to be no further request.
 * @param {number[]} times gets the milliseconds of every request.
 * @returns {Promise<void>}
 */
function converse({ port, request, ids, status, leastBytes }, isOver, times) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sent = 0;
    let got = Buffer.alloc(0);
    /** The length of the whole answer, once its head is there. */
    let whole = Number.NaN;

    const send = () => {
      got = Buffer.alloc(0);
      whole = Number.NaN;
      sent = performance.now();
      const id = ids[Math.floor(Math.random() * ids.length)] ?? '';
      const digits = `${Math.floor(Math.random() * 1e6)}`.padStart(6, '0');
      socket.write(request.replaceAll('%ID%', id).replaceAll('%N%', digits), 'latin1');
    };
    const fail = (/** @type {string} */ reason) => {
      socket.destroy();
      reject(new Error(`${reason}: ${got.toString('latin1', 0, 500)}`));
    };
    socket.on('connect', () => {
      isOver();
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => fail('the server closed a connection'));
    socket.on('data', (chunk) => {
      got = got.length === 0 ? chunk : Buffer.concat([got, chunk]);
      if (Number.isNaN(whole)) {
        const end = got.indexOf('\r\n\r\n');
        if (end < 0) return;
        const head = got.toString('latin1', 0, end);
        const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1]);
        if (Number(head.slice(9, 12)) !== status) return fail(`status is not ${status}`);
        if (!(length >= leastBytes)) return fail(`the body is shorter than ${leastBytes} bytes`);
        whole = end + 4 + length;
      }
      if (got.length < whole) return;
      times.push(performance.now() - sent);
      if (!isOver()) return send();
      socket.removeAllListeners('close');
      socket.end();
      resolve();
    });
  });
}
