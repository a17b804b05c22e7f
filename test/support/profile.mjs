// Loaded into a gateway process by `NODE_OPTIONS=--import=…`: writes a profile of its CPU into PROFILE_DIR when it ends. Node
// takes no `--cpu-prof` there.

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const directory = process.env.PROFILE_DIR;
if (isMainThread && directory) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start');
  process.on('exit', () => {
    session.post('Profiler.stop', (_, { profile }) =>
      writeFileSync(join(directory, `gateway-${process.pid}.cpuprofile`), JSON.stringify(profile)),
    );
  });
}
