// Preloaded into a process: writes the URLs of all scripts that it has loaded to LOADED_SCRIPTS_FILE when it ends.
// `%p` in the name of the file is the id of the process, as those that it starts are preloaded, too.

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
  const file = (process.env.LOADED_SCRIPTS_FILE ?? '').replace('%p', String(process.pid));
  process.on('exit', () => writeFileSync(file, urls.join('\n')));
}
