// What a device gets from the gateway before it has an agent: the agent in one file, and the script that installs it. Both are
// read once, at the start, so that the script and the file it checks are of one build.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface AgentFiles {
  /** The agent in one file. */
  bundle: Buffer;
  /** Its SHA-256. */
  sha256: Buffer;
  /** The shell script that installs it, without the values of this gateway. */
  installer: string;
}

/**
 * @param directory the package of the agent, with what its build made; undefined: nothing is offered.
 * @returns undefined where the agent was not built.
 */
export async function readAgentFiles(directory: string | undefined): Promise<AgentFiles | undefined> {
  if (directory === undefined) return undefined;
  try {
    const bundle = await readFile(join(directory, 'dist/agent.js'));
    const installer = await readFile(join(directory, 'install.sh'), 'utf8');
    return { bundle, sha256: createHash('sha256').update(bundle).digest(), installer };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
