// One process at a time: a directory that holds one file, named after the process that has it.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 15 * 60_000;
const LOOK_AGAIN_MS = 200;

/**
 * Does `work` while `directory` is held, after waiting for whoever has it. A holder that is dead holds nothing.
 * @param {string} directory its parent is made when missing.
 * @param {(holder: number) => void} onWait called once, when there is somebody to wait for.
 * @param {() => Promise<void>} work
 */
export async function locked(directory, onWait, work) {
  const until = Date.now() + WAIT_MS;
  for (let told = false, holder = take(directory); holder !== undefined; holder = take(directory)) {
    if (!told) onWait(holder);
    told = true;
    if (Date.now() > until)
      throw new Error(`process ${holder} does not let go of ${directory}: end it, or remove that`);
    await sleep(LOOK_AGAIN_MS);
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
 * The directory appears together with the file in it, by a rename, so that nobody sees it without an owner. A dead
 * owner's file is removed by its name: never the file of somebody who was quicker to take over.
 * @param {string} directory
 * @returns {number | undefined} who has it, undefined when it is now ours.
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
    // Nobody there: taken and released between the two looks.
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
    // Somebody else has taken it, or removed it, already.
  }
}

/** @param {number} pid */
function isAlive(pid) {
  // Our own number was left by an earlier process: in a container every start has the same one.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return !hasEnded(pid);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * Whether all that is left of a process is its exit code, for which its parent has not asked: in a container without an
 * init nobody does.
 * @param {number} pid
 */
function hasEnded(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The state follows the command's name, which may have anything in it.
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false; // This system does not tell.
  }
}

/** @param {unknown} error */
const codeOf = (error) => String(/** @type {NodeJS.ErrnoException} */ (error).code);
