// Preloaded into a process: writes the URLs of all scripts that it has loaded to LOADED_SCRIPTS_FILE when it ends.

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  /** @type {string[]} */
  const urls = [];
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
  session.post('Debugger.enable');
  process.on('exit', () => writeFileSync(process.env.LOADED_SCRIPTS_FILE ?? '', urls.join('\n')));
}
