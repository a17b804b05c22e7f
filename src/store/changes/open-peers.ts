// Opens the way to the other gateways on this database that the configuration names.

import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { withOptionalPackage } from '../../runtime/optional-package.ts';
import type { PrismaClient } from '../database/client.ts';
import { newId } from '../ids.ts';
import type { Keys } from '../keys/keys.ts';
import type { StoreSettings } from '../settings.ts';
import { ChangeVersions } from './change-versions.ts';
import type { Changes } from './changes.ts';
import { readClusterId } from './cluster-id.ts';
import type { PeerBus } from './peer-bus.ts';
import { PeerRelay } from './peer-relay.ts';
import { postgresBus } from './postgres-bus.ts';
import { signedBus } from './signed-bus.ts';

export interface PeerDeps {
  prisma: PrismaClient;
  changes: Changes;
  keys: Keys;
  log: Logger;
}

/**
 * Joins the other gateways. It resolves when the first connection was tried; if that fails, further attempts follow.
 * @returns undefined when there can be no others, as with the embedded database.
 * @throws {Error} with a message for people when the package for `BUS_URL` is not installed.
 */
export async function openPeers(
  { databaseUrl, databaseDirectUrl, busUrl }: Pick<StoreSettings, 'databaseUrl' | 'databaseDirectUrl' | 'busUrl'>,
  deps: PeerDeps,
): Promise<PeerRelay | undefined> {
  if (databaseUrl === undefined) return undefined;
  const { prisma, changes, log } = deps;
  // Processes filter out their own messages by an id of the process, which need not be the node's.
  const shared = { node: newId('node'), changes, log };
  const relay =
    busUrl === undefined
      ? new PeerRelay({ ...shared, bus: postgresBus(databaseDirectUrl ?? databaseUrl) })
      : new PeerRelay({
          ...shared,
          bus: await openSignedBus(busUrl, deps),
          versions: new ChangeVersions({
            prisma,
            onLoss() {
              log.info('changes of other gateways may have been lost: the configuration is read again');
              changes.reportGap();
            },
            onFailure: (error) => log.debug({ err: describeFailure(error) }, 'the version of changes cannot be read'),
          }),
        });
  await relay.start();
  return relay;
}

async function openSignedBus(url: string, { prisma, keys, log }: PeerDeps): Promise<PeerBus> {
  const channel = `gateway.${await readClusterId(prisma)}`;
  return signedBus(await withOptionalPackage('BUS_URL', openBus(url, channel)), channel, keys, log);
}

/** @param channel the subject or channel of this cluster. */
async function openBus(url: string, channel: string): Promise<PeerBus> {
  // Each loads a package that is installed only on request.
  if (/^rediss?:/.test(url)) return (await import('./redis-bus.ts')).redisBus(url, channel);
  return (await import('./nats-bus.ts')).natsBus(url, channel);
}
