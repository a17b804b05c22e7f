// The captures that are on, as the data plane reads and follows them.

import type { CaptureSource } from '../../capture/stored-capture.ts';
import type { EndpointAddress } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import { isId } from '../ids.ts';

/** The kind of stored captures in the change feed, and the prefix of their ids. */
export const CAPTURE_KIND = 'trafficCapture';
export const CAPTURE_PREFIX = 'tcap';

/** The most captures that one query reads. */
const BATCH = 1000;

export interface CaptureSourceOptions {
  prisma: PrismaClient;
  changes: Pick<Changes, 'follow' | 'onGap'>;
  /** The wall clock, in milliseconds. */
  now(): number;
}

export function captureSource({ prisma, changes, now }: CaptureSourceOptions): CaptureSource {
  async function read(id: object) {
    const rows = await prisma.trafficCapture.findMany({
      where: { id, endsAt: { gt: new Date(now()) }, owner: { active: true } },
      orderBy: { id: 'asc' },
      take: BATCH,
    });
    return rows.map((row) => ({ ...row, address: row.address as EndpointAddress, endsAt: row.endsAt.getTime() }));
  }

  return {
    async load(ids) {
      const found: Awaited<ReturnType<typeof read>> = [];
      if (ids) {
        for (let at = 0; at < ids.length; at += BATCH) found.push(...(await read({ in: ids.slice(at, at + BATCH) })));
        return found;
      }
      for (let page = await read({}); page.length > 0; page = await read({ gt: page.at(-1)?.id })) found.push(...page);
      return found;
    },

    onChange(listener) {
      const stops = [
        changes.follow(async (changed) => {
          // With a bot user go its captures.
          const isBotGone = changed.some(({ kind, action }) => kind === 'botUser' && action === 'DELETED');
          const ids = changed.flatMap(({ kind, id }) => (kind === CAPTURE_KIND ? [id] : []));
          // An announcement without a valid id may be about any capture.
          const isNamed = !isBotGone && ids.every((id) => isId(CAPTURE_PREFIX, id));
          if (isBotGone || ids.length > 0) await listener(isNamed ? [...new Set(ids)] : null);
        }),
        changes.onGap(() => void listener(null)),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
