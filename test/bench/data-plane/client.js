// A client, a process of its own: one stream of bulk, or requests where wrk is not installed. It reads no more of HTTP than
// that takes, so as to leave the processors to what is measured.

import { connect } from 'node:net';
import { requestsHttp2 } from './client-h2.js';

/** @typedef {import('./load.js').Job} Job @typedef {import('./load.js').Outcome} Outcome */

const READ_BYTES = 1024 * 1024;
const PIECE = Buffer.alloc(256 * 1024, 'u');
/** One stream may take so long: it is stuck, or not worth waiting for. */
const BULK_MS = 120_000;

process.on('message', (/** @type {Job} */ job) => {
  run(job).then(
    (outcome) => process.send?.(outcome),
    (error) => process.send?.({ error: error.message }),
  );
});

/** @param {Job} job @returns {Promise<Outcome>} */
async function run(job) {
  const started = performance.now();
  const since = () => (performance.now() - started) / 1000;
  if (job.kind !== 'requests') {
    await exchange(job, job.kind === 'up' ? job.bytes : 0, AbortSignal.timeout(BULK_MS));
    return { requests: 1, seconds: since(), p50: since() * 1000, p99: since() * 1000 };
  }
  /** @type {number[]} */
  const times = [];
  const until = started + job.seconds * 1000;
  if (job.over === 'h2') await requestsHttp2(job, until, times);
  else
    await Promise.all(Array.from({ length: job.connections }, () => (job.close ? anew : converse)(job, until, times)));
  const seconds = since();
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { requests: times.length, seconds, p50: at(0.5), p99: at(0.99) };
}

/** A connection for each request. @param {Job} job @param {number} until @param {number[]} times */
async function anew(job, until, times) {
  while (performance.now() < until) {
    const sent = performance.now();
    await exchange(job, 0);
    times.push(performance.now() - sent);
  }
}

/** Many requests on one connection. @param {Job} job @param {number} until @param {number[]} times */
function converse(job, until, times) {
  return open(job, (socket, answered) => {
    let sent = 0;
    const send = () => {
      sent = performance.now();
      socket.write(head(job, 'GET', 0, false), 'latin1');
    };
    answered.next = () => {
      times.push(performance.now() - sent);
      if (performance.now() >= until) return true;
      send();
      return false;
    };
    send();
  });
}

/** One request on one connection, with so much of a body. @param {Job} job @param {number} body @param {AbortSignal} [signal] */
function exchange(job, body, signal) {
  return open(
    job,
    (socket, answered) => {
      answered.next = () => {
        if (left > 0) socket.destroy(new Error('it was answered before all of the upload was sent'));
        return left === 0;
      };
      socket.write(head(job, body > 0 ? 'POST' : 'GET', body, true), 'latin1');
      let left = body;
      const go = () => {
        while (left > 0 && !socket.destroyed) {
          const bytes = Math.min(left, PIECE.length);
          left -= bytes;
          if (!socket.write(PIECE.subarray(0, bytes))) return void socket.once('drain', go);
        }
      };
      go();
    },
    signal,
  );
}

/** @param {Job} job @param {string} method @param {number} body @param {boolean} close */
const head = ({ path, host }, method, body, close) =>
  [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(body ? [`Content-Length: ${body}`] : []),
    ...(close ? ['Connection: close'] : []),
    '\r\n',
  ].join('\r\n');

/**
 * Connects, and reads answers until `next` says that it was the last.
 * @param {Job} job
 * @param {(socket: import('node:net').Socket, answered: { next: () => boolean }) => void} onConnect
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
function open({ port, kind, bytes }, onConnect, signal) {
  return new Promise((resolve, reject) => {
    const answered = { next: () => true };
    let text = '';
    /** Bytes of the answer's body still to come; NaN before they are known. */
    let left = Number.NaN;
    const fail = (/** @type {string} */ reason) => {
      socket.destroy();
      reject(new Error(reason));
    };
    const read = (/** @type {number} */ count, /** @type {Buffer} */ buffer) => {
      if (Number.isNaN(left)) {
        text += buffer.latin1Slice(0, count);
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return true;
        const length = Number(/^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1]);
        const isRight = text.startsWith('HTTP/1.1 200') && (kind === 'up' ? length > 0 : length === bytes);
        if (!isRight) return void fail(`not the answer that was expected: ${text.slice(0, 500)}`);
        left = length - (text.length - end - 4);
      } else {
        left -= count;
      }
      if (left > 0) return true;
      text = '';
      left = Number.NaN;
      if (!answered.next()) return true;
      socket.removeAllListeners('close').destroy();
      resolve();
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(kind === 'down' ? READ_BYTES : 64 * 1024), callback: read };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    socket.on('connect', () => onConnect(socket, answered));
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('the connection was closed in the middle of an answer'));
    signal?.addEventListener('abort', () => fail(`took more than ${BULK_MS / 1000} s`));
  });
}
