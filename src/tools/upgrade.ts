// `npm run upgrade`: lets the gateway that runs on this DATA_DIR go on with the code of this directory, without a gap.

import { basename } from 'node:path';
import { LocalSockets, PRIMARY_SOCKET } from '../cluster/local-sockets.ts';
import { readConfig } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { CallChannel } from '../control/call-channel.ts';
import { currentLink, mainFile, moveCurrentLink } from '../process/installed-versions.ts';
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
  const settledMs = await channel.call('upgrade', mainFile(root)).finally(() => channel.close());
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const settled = settledMs ? `, the last ${seconds(settledMs)} beside those before` : '';
  console.log(
    `The new processes serve, after ${seconds(performance.now() - startedAt)}${settled}. Those before end with their last stream.`,
  );
  const link = currentLink(root);
  if (link === undefined) return;
  try {
    moveCurrentLink(link, root);
  } catch (error) {
    const command = `ln -sfn ${basename(root)} ${link}`;
    throw new Error(
      `${link} still leads to another version, which the next start would run (${(error as Error).message}). Run: ${command}`,
    );
  }
  console.log(`${link} leads to it.`);
});
