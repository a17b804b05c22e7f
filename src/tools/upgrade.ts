// `npm run upgrade`: lets the gateway that runs on this DATA_DIR go on with the code of this checkout, without a gap.

import { join } from 'node:path';
import { LocalSockets, PRIMARY_SOCKET } from '../cluster/local-sockets.ts';
import { readConfig } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { CallChannel } from '../control/call-channel.ts';
import type { PrimaryCalls } from '../process/primary.ts';
import { runTool } from './run-tool.ts';

const CONNECT_TIMEOUT_MS = 2000;

await runTool(async () => {
  const root = packageRoot(import.meta.dirname);
  const { nodeLink, dataDir } = readConfig(process.env, root);
  if (nodeLink?.localDirectory === undefined)
    throw new Error('An upgrade without a gap needs WORKERS of 2 or more. With one process, start the gateway again.');
  const sockets = new LocalSockets(nodeLink.localDirectory);
  const socket = await sockets.connect(PRIMARY_SOCKET, CONNECT_TIMEOUT_MS).catch(() => {
    throw new Error(`No gateway with WORKERS runs on ${dataDir}. Look at DATA_DIR.`);
  });
  const startedAt = performance.now();
  const channel = new CallChannel<PrimaryCalls>(socket, {});
  // An open connection would keep this process from ending.
  await channel.call('upgrade', join(root, 'dist/bundle/main.js')).finally(() => channel.close());
  console.log(
    `The new processes serve, after ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Those before end with their last stream.`,
  );
});
