// The file by which a device stays the same over restarts: its id, and the authtoken that it was given with a provisioning key.

import { randomUUID } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import type { Log } from '../log.ts';
import { replaceFile } from '../replace-file.ts';

/** What a device keeps. */
export interface Device {
  /** Random, and of this device alone: whoever knows it can pass for the device. */
  readonly id: string;
  /** Whether the id is on the disk, so that the device has it after a restart. */
  readonly isKept: boolean;
  /** The authtoken that it was given; null when it was given none. */
  readonly authtoken: string | null;
  /** Keeps an authtoken. Resolves when it is on the disk. @throws {Error} when it cannot be written. */
  keepAuthtoken(authtoken: string): Promise<void>;
}

interface Content {
  id: string;
  authtoken: string | null;
}

const ID = /^[0-9A-Za-z_-]{16,64}$/;

/** The device file that belongs to a state file: `tunnels.device.json` of `tunnels.json`. */
export function deviceFileOf(stateFile: string): string {
  return `${stateFile.replace(/\.json$/, '')}.device.json`;
}

/**
 * Reads the file, or makes the device an id and writes it. A damaged file is set aside. A device whose file cannot be used has its
 * id until the process ends.
 */
export async function openDevice(file: string, log: Log): Promise<Device> {
  const write = (content: Content) => replaceFile(file, `${JSON.stringify(content)}\n`, false);
  let content: Content | null = null;
  let isKept = true;
  try {
    content = await load(file, log);
    if (!content) {
      content = { id: randomUUID(), authtoken: null };
      await write(content);
    }
  } catch (error) {
    isKept = false;
    log('error', 'the device file cannot be used, so the gateway takes the device for a new one at each start', {
      file,
      reason: (error as Error).message,
    });
  }
  const kept = content ?? { id: randomUUID(), authtoken: null };
  return {
    id: kept.id,
    isKept,
    get authtoken() {
      return kept.authtoken;
    },
    async keepAuthtoken(authtoken) {
      await write({ id: kept.id, authtoken });
      kept.authtoken = authtoken;
    },
  };
}

async function load(file: string, log: Log): Promise<Content | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const content = parse(text);
  if (content) return content;
  const copy = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  await rename(file, copy);
  log('error', 'the device file is damaged, and was set aside: the gateway takes the device for a new one', { copy });
  return null;
}

function parse(text: string): Content | null {
  try {
    const { id, authtoken } = JSON.parse(text) as { id?: unknown; authtoken?: unknown };
    if (typeof id !== 'string' || !ID.test(id)) return null;
    return { id, authtoken: typeof authtoken === 'string' ? authtoken : null };
  } catch {
    return null;
  }
}
