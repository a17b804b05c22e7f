import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { EmbeddedError } from './error.ts';

const MAX_OPEN_FILES = 16;
const CREATE_TIMEOUT_MS = 120_000;
/** The prefix of the directory in which a new database is created, beside its final place. */
const DRAFT = 'db.new-';
/** The file that versions up to 0.1 left beside an incomplete database. */
const INCOMPLETE_MARKER = 'db.incomplete';

/**
 * Creates the database in `<dataDir>/db` if there is none. A process of its own creates it in a temporary directory, which is renamed
 * once it is complete and synced. So nothing of an interrupted start is used.
 * @throws {EmbeddedError} when it cannot be created.
 */
export async function ensureDatabase(dataDir: string): Promise<void> {
  removeDrafts(dataDir);
  const directory = join(dataDir, 'db');
  const marker = join(dataDir, INCOMPLETE_MARKER);
  if (existsSync(marker)) {
    rmSync(directory, { recursive: true, force: true });
    rmSync(marker);
  }
  if (existsSync(directory)) return;
  // A unique name, because the process of a killed start may go on writing for some seconds.
  const draft = mkdtempSync(join(dataDir, DRAFT));
  await create(draft);
  chmodSync(draft, 0o700); // initdb lets the group in.
  await syncTree(draft);
  renameSync(draft, directory);
  syncDirectory(dataDir);
}

function removeDrafts(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith(DRAFT)) continue;
    try {
      rmSync(join(dataDir, name), { recursive: true, force: true });
    } catch {
      // A process still writes there. The next start removes it.
    }
  }
}

async function create(directory: string): Promise<void> {
  const file = fileURLToPath(new URL('./create.js', import.meta.url));
  const child = spawn(process.execPath, [file, directory], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: CREATE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  try {
    const stderr = text(child.stderr);
    const exit = await new Promise<string | number>((resolve, reject) => {
      child.once('error', reject).once('exit', (code, signal) => resolve(signal ?? code ?? 0));
    });
    if (exit === 0) return;
    const reason =
      typeof exit === 'string' ? `the process that makes it was ended by ${exit}` : lastLines(await stderr);
    throw new EmbeddedError(`The embedded database cannot be made in ${directory}: ${reason}`);
  } finally {
    process.off('exit', end);
  }
}
/** The last lines of the output; for an uncaught error of Node, the line that names it. */
function lastLines(said: string): string {
  const lines = said.trim().split('\n');
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.slice(-3).join('\n');
}

/** PGlite makes a new cluster without a single fsync. */
async function syncTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const syncNext = async () => {
    for (let path = files.pop(); path !== undefined; path = files.pop()) {
      const file = await open(path, 'r+');
      await file.sync().finally(() => file.close());
    }
  };
  await Promise.all(Array.from({ length: MAX_OPEN_FILES }, syncNext));
  const directories = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of [...directories, directory]) syncDirectory(path);
}

function syncDirectory(path: string): void {
  // Windows cannot open a directory, and needs no such call.
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
