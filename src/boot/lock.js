// A lock between processes: a directory with one file, which names the process that holds it.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_TIMEOUT_MS = 15 * 60_000;
const POLL_INTERVAL_MS = 200;

/**
 * Runs `work` while it holds the lock. It waits for another holder, and ignores one that has died.
 * @param {string} directory its parent is created when it is missing.
 * @param {(holder: number) => void} onWait called once, when another process holds the lock.
 * @param {() => Promise<void>} work
 */
export async function locked(directory, onWait, work) {
  const until = Date.now() + WAIT_TIMEOUT_MS;
  for (let told = false, holder = take(directory); holder !== undefined; holder = take(directory)) {
    if (!told) onWait(holder);
    told = true;
    if (Date.now() > until)
      throw new Error(`process ${holder} does not let go of ${directory}: end it, or remove that`);
    await sleep(POLL_INTERVAL_MS);
  }
  const release = () => letGo(directory, process.pid);
  process.once('exit', release);
  try {
    await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/**
 * The rename creates the directory together with its file, so that the lock never exists without a holder. The file of a
 * dead holder is removed by its name, so that the file of a faster new holder stays.
 * @param {string} directory
 * @returns {number | undefined} the holder; undefined when this process has acquired the lock.
 */
function take(directory) {
  const mine = `${directory}.${process.pid}`;
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, String(process.pid)), '');
  for (const holder of holders(directory)) {
    if (isAlive(holder)) {
      rmSync(mine, { recursive: true });
      return holder;
    }
    letGo(directory, holder);
  }
  try {
    renameSync(mine, directory);
    return undefined;
  } catch (error) {
    rmSync(mine, { recursive: true });
    const [holder] = holders(directory);
    // The lock was acquired and released between the two reads.
    if (holder === undefined && !['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error;
    return holder ?? take(directory);
  }
}

/** @param {string} directory */
function holders(directory) {
  try {
    return readdirSync(directory).map(Number);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/**
 * @param {string} directory
 * @param {number} holder
 */
function letGo(directory, holder) {
  rmSync(join(directory, String(holder)), { force: true });
  try {
    rmdirSync(directory);
  } catch {
    // Another process has acquired or removed it meanwhile.
  }
}

/** @param {number} pid */
function isAlive(pid) {
  // A lock with our own process id is of an earlier process: in a container every start has the same id.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return !hasEnded(pid);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * Whether a process is a zombie: it has ended, but its parent has not reaped it. In a container without an init no
 * process does.
 * @param {number} pid
 */
function hasEnded(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The state follows the command's name in parentheses, which may itself contain parentheses.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false; // This system does not tell.
  }
}

/** @param {unknown} error */
const codeOf = (error) => String(/** @type {NodeJS.ErrnoException} */ (error).code);
