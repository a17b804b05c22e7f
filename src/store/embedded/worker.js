// Runs PostgreSQL in WebAssembly, in a thread of its own so that a query never blocks the gateway's event loop.
// Plain JavaScript: the same file is loaded from src/ by the tests and from dist/ by the gateway.

import { closeSync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** @typedef {{ nfd?: number, node: object }} FileStream */
/** @typedef {{ stream_ops: { fsync?: (stream: FileStream) => number }, realPath: (node: object) => string }} NodeFiles */

// The last lines of the log are kept for the text of a failure.
const MAX_LOG_LINES = 20;
// Errors of queries go to their callers. They may hold data of users, so they are not logged.
const QUIET = ['-c', 'log_min_messages=fatal', '-c', 'log_min_error_statement=panic'];
// Types of protocol messages.
const FLUSH = 'H'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);
const READY = 'Z'.charCodeAt(0);
const SYNC = 'S'.charCodeAt(0);
// The status in READY: no transaction is open.
const IDLE = 'I'.charCodeAt(0);

if (!parentPort) throw new Error('worker.js runs in a worker thread only');
const port = parentPort;

/** @type {string | undefined} */
const directory = workerData.directory;
/** @type {string[]} */
const log = [];
let fsyncs = 0;

/** Nothing that follows may be acknowledged: the thread ends here. @param {string} text @returns {never} */
function fail(text) {
  port.postMessage({ fatal: [text, ...log].join('\n') });
  process.exit(1);
}

/** @param {string} line */
function onStderr(line) {
  log.push(line);
  if (log.length > MAX_LOG_LINES) log.shift();
  if (/\bPANIC:/.test(line)) fail('The embedded database stopped itself.');
  return false;
}

/** Gives the database's files a real fsync; PGlite's own is a no-op. */
class DurableFiles extends NodeFS {
  /** @override @type {NodeFS['init']} */
  async init(pg, options) {
    const { emscriptenOpts } = await super.init(pg, options);
    const preRun = [...(emscriptenOpts.preRun ?? []), installFsync];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

/** @param {object} module */
function installFsync(module) {
  // An internal of PGlite. Should it be gone, open() finds that nothing was synced and refuses to start.
  const files = /** @type {{ NODEFS?: NodeFiles }} */ (module).NODEFS;
  if (!files?.stream_ops) return;
  files.stream_ops.fsync = (stream) => {
    try {
      if (stream.nfd === undefined) syncDirectory(files.realPath(stream.node));
      else fdatasyncSync(stream.nfd);
    } catch (error) {
      fail(`The embedded database could not write to the disk: ${error}`);
    }
    fsyncs += 1;
    return 0;
  };
}

/** @param {string} path */
function syncDirectory(path) {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** @returns {Promise<PGlite>} */
async function open() {
  if (directory === undefined)
    return PGlite.create({ startParams: [...PGlite.defaultStartParams, ...QUIET], onStderr });
  const startParams = PGlite.defaultStartParams.filter((parameter) => parameter !== '-F');
  startParams.push('-c', 'wal_sync_method=fsync', '-c', 'shared_buffers=16MB', ...QUIET);
  const opened = await PGlite.create({ fs: new DurableFiles(directory), startParams, onStderr });
  const before = fsyncs;
  query(opened, 'CHECKPOINT');
  if (fsyncs === before) fail('This version of PGlite does not sync its files to the disk: refusing to start.');
  return opened;
}

/**
 * Runs whole messages of the PostgreSQL protocol. Synchronous, so calls keep their order by themselves.
 * Not `execProtocolRaw`: that keeps every answer it ever parsed in memory.
 * @param {PGlite} on
 * @param {Uint8Array} messages
 * @returns {Uint8Array<ArrayBuffer>}
 */
function execute(on, messages) {
  /** @type {Uint8Array[]} */
  const parts = [];
  let length = 0;
  // The bytes are a view of the database's own memory.
  const onRawData = (/** @type {Uint8Array} */ bytes) => {
    length += bytes.length;
    parts.push(bytes.slice());
  };
  on.execProtocolRawStream(messages, { syncToFs: false, onRawData }).catch((error) => fail(String(error)));
  const answer = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    answer.set(part, offset);
    offset += part.length;
  }
  return answer;
}

/** @param {PGlite} on @param {string} sql */
function query(on, sql) {
  const text = new TextEncoder().encode(`${sql}\0`);
  const message = new Uint8Array(5 + text.length);
  message[0] = QUERY;
  new DataView(message.buffer).setUint32(1, 4 + text.length);
  message.set(text, 5);
  expectReady(execute(on, message));
}

/** A crash inside WebAssembly is swallowed by PGlite; what gives it away is the answer without an end. @param {Uint8Array} answer */
function expectReady(answer) {
  if (answer.at(-6) !== READY) fail('The embedded database broke off an answer.');
}

/** Leaves nothing of a connection behind: transaction, prepared statements, settings, LISTENs. @param {PGlite} on */
function reset(on) {
  const answer = execute(on, Uint8Array.of(SYNC, 0, 0, 0, 4));
  expectReady(answer);
  if (answer.at(-1) !== IDLE) query(on, 'ROLLBACK');
  query(on, 'DISCARD ALL');
}

const database = await open().catch((error) => fail(`The embedded database does not start: ${error}`));

port.on('message', async ({ id, type, bytes, last }) => {
  /** @type {Uint8Array<ArrayBuffer>} */
  let answer = new Uint8Array(0);
  if (type === 'execute') {
    answer = execute(database, bytes);
    if (last !== FLUSH) expectReady(answer);
  } else if (type === 'reset') {
    reset(database);
  } else {
    await database.close();
  }
  port.postMessage({ id, bytes: answer, fsyncs }, [answer.buffer]);
});
port.postMessage({ id: 0, bytes: new Uint8Array(0), fsyncs });
