// The client, a process of its own: numbered requests over connections that are kept. At a rate they are sent when they are
// due, whether or not earlier ones are answered (an open loop), and a late one counts as slow; without one each connection
// sends its next when the last is answered. It reads no more of HTTP than that takes.

import { connect } from 'node:net';

/**
 * @typedef {object} Job
 * @property {number} port of 127.0.0.1.
 * @property {string} request head and body as they are sent; `%N%` stands for the request's number, in `DIGITS` digits.
 * @property {number} status that every answer must have.
 * @property {number} connections
 * @property {number} seconds
 * @property {number} [rate] requests per second; none: as fast as they are answered.
 */

/**
 * @typedef {object} Outcome
 * @property {number} first the number of the first request; the others follow it without a gap.
 * @property {Float64Array} answeredAt when each was answered: the wall clock, in milliseconds.
 * @property {number} seconds
 * @property {number} p50 milliseconds from when it was due, or was sent, to the end of its answer.
 * @property {number} p99
 */

const DIGITS = 9;
const TICK_MS = 1;
/** An open loop that is so far behind is not measuring any more. */
const LATE_MS = 10_000;

/** Numbers are not used twice, so that nothing of an earlier run is taken for one of a later. */
let next = 0;

process.on('message', (/** @type {Job} */ job) => {
  run(job).then(
    (outcome) => process.send?.(outcome),
    (error) => process.send?.({ error: error.message }),
  );
});

/** @param {Job} job @returns {Promise<Outcome>} */
async function run(job) {
  const { port, seconds, rate, connections } = job;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const first = next;
  const started = performance.now();
  const until = started + seconds * 1000;
  /** When the request of a number was due, or could be sent; undefined when there is none (yet). */
  const due = (/** @type {number} */ n) => {
    const now = performance.now();
    if (!rate) return now < until ? now : undefined;
    const at = started + ((n - first) / rate) * 1000;
    return at <= now && at < until ? at : undefined;
  };
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const answeredAt = [];
  let busy = 0;
  await new Promise((resolve, reject) => {
    const isOver = () => busy === 0 && performance.now() >= until;
    const fail = (/** @type {string} */ reason) => {
      clearInterval(timer);
      for (const socket of sockets) socket.removeAllListeners('close').destroy();
      reject(new Error(reason));
    };
    const idle = sockets.map((socket) => conversation(socket, job, fail));
    const go = () => {
      for (;;) {
        const at = idle.length > 0 ? due(next) : undefined;
        const ask = at === undefined ? undefined : idle.pop();
        if (at === undefined || !ask) break;
        if (performance.now() - at > LATE_MS) return fail(`requests cannot be sent at ${rate} per second`);
        const n = next++;
        busy++;
        ask(n, () => {
          times.push(performance.now() - at);
          answeredAt[n - first] = Date.now();
          busy--;
          idle.push(ask);
          go();
        });
      }
      if (!isOver()) return;
      clearInterval(timer);
      resolve(undefined);
    };
    const timer = setInterval(go, TICK_MS);
    go();
  });
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  const took = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { first, answeredAt: Float64Array.from(answeredAt), seconds: took, p50: at(0.5), p99: at(0.99) };
}

/** @param {number} port @returns {Promise<import('node:net').Socket>} */
function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject).once('connect', () => resolve(socket.off('error', reject)));
  });
}

/**
 * @param {import('node:net').Socket} socket
 * @param {Job} job
 * @param {(reason: string) => void} fail
 * @returns {(n: number, answered: () => void) => void} sends one request, which has to be answered before the next.
 */
function conversation(socket, { request, status }, fail) {
  const [before = '', ...after] = request.split('%N%');
  const start = `HTTP/1.1 ${status} `;
  let text = '';
  /** The length of the whole answer, once its head is there. */
  let whole = Number.NaN;
  let answered = () => {};
  socket.on('data', (data) => {
    text += data.toString('latin1');
    if (Number.isNaN(whole)) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = /^content-length: *(\d+)/im.exec(text.slice(0, end))?.[1];
      if (!text.startsWith(start) || !length) return fail(`not the answer that was expected: ${text.slice(0, 500)}`);
      whole = end + 4 + Number(length);
    }
    if (text.length < whole) return;
    text = '';
    whole = Number.NaN;
    answered();
  });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the connection was closed'));
  return (n, whenAnswered) => {
    answered = whenAnswered;
    socket.write(`${before}${[...after].map((part) => numbered(n) + part).join('')}`, 'latin1');
  };
}

/** @param {number} n */
const numbered = (n) => String(n).padStart(DIGITS, '0');
