// Where the gateway's time goes while events are made and delivered: of its main thread, and of the others (the embedded
// database has one of its own).

import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, profileClock } from '../data-plane/profile.js';
import { measure } from './flow.js';

/** @typedef {import('../data-plane/profile.js').Window} Window */

/** Arguments for a gateway that is to leave profiles. @param {string} directory */
export const profiling = (directory) => ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${directory}`];

/**
 * Makes events for a while, as many as go.
 * @param {import('./flow.js').Way} way
 * @param {string} title
 * @param {number} seconds
 * @returns {Promise<Window>}
 */
export async function record(way, title, seconds) {
  const destination = await way.gateway.createDestination(way.receiver.target);
  const end = await way.gateway.subscribe(way.type, destination);
  await measure(way, true, { seconds });
  const from = profileClock();
  await measure(way, true, { seconds });
  const to = profileClock();
  await end();
  return { title, from, to };
}

/** @param {string} directory of a gateway's profiles, after it has ended. @param {Window[]} windows @returns {string} */
export function profiles(directory, windows) {
  const files = readdirSync(directory).filter((name) => name.endsWith('.cpuprofile'));
  const threads = files.map((file) => {
    // CPU.<date>.<time>.<process>.<thread>.<number>.cpuprofile
    const thread = Number(file.split('.')[4]);
    const own = join(directory, `${thread}`);
    mkdirSync(own);
    renameSync(join(directory, file), join(own, file));
    return { thread, own };
  });
  const texts = threads
    .sort((a, b) => a.thread - b.thread)
    .flatMap(({ thread, own }) =>
      windows.map(
        (window) => `${window.title}: thread ${thread}${thread ? '' : ', the main one'}\n${describe(own, window)}`,
      ),
    );
  return texts.join('\n\n');
}
