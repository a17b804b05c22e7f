// What sinks over HTTP are made with in tests: the very connections of production, which lead to a cloud for tests.

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { EventSettings } from '../../../src/events/settings.ts';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import { openOutbound } from '../../../src/events/sinks/http/outbound.ts';
import { SinkError } from '../../../src/events/sinks/sink.ts';
import { settingsFor } from './aws-sinks.ts';
import { type HttpCloud, startHttpCloud } from './http-cloud.ts';

export interface SinkLab {
  cloud: HttpCloud;
  /** A directory of the test's own. */
  directory: string;
  /** Parts whose settings let the cloud be reached; changed so, with connections of their own, which take 0.2 s to open. */
  parts(change?: Partial<EventSettings>): SinkContext;
  /** The wall clock that sinks see; milliseconds. */
  time: number;
  close(): Promise<void>;
}

export async function openSinkLab(): Promise<SinkLab> {
  const cloud = await startHttpCloud();
  const directory = await mkdtemp(join(inject('run'), 'sinks-'));
  const eventCaFile = await cloud.writeCa(join(directory, 'ca.pem'));
  const open = (change: Partial<EventSettings>): SinkContext => {
    const settings = settingsFor({ eventEndpoints: cloud.endpoints, eventCaFile, ...change });
    const outbound = openOutbound(settings);
    return { settings, outbound, destinationId: 'ed_2abc', accountId: 'ac_2xyz', now: () => lab.time };
  };
  const opened = [open({})] as [SinkContext, ...SinkContext[]];
  const lab: SinkLab = {
    cloud,
    directory,
    time: Date.now(),
    parts(change) {
      if (!change) return opened[0];
      const parts = open(change);
      opened.push(parts);
      return parts;
    },
    async close() {
      for (const { outbound } of opened) outbound.close();
      await cloud.close();
      await rm(directory, { recursive: true });
    },
  };
  return lab;
}

/** How something failed that must. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<Pick<SinkError, 'kind' | 'code' | 'message' | 'retryAfter'>> {
  const failure = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(failure instanceof SinkError)) throw failure;
  const { kind, code, message, retryAfter } = failure;
  return { kind, code, message, retryAfter };
}
