// Gateways of one installation: on one database, each with a data directory of its own, and one after the other.

import { randomBytes } from 'node:crypto';
import { startTestGateway, type TestGateway } from '../gateway/gateway.ts';
import { newPlace, type Place } from '../gateway/place.ts';

export interface Installation {
  place: Place;
  /** The next gateway. @param name of its data directory; '' for that of the place. */
  start(name?: string): Promise<TestGateway>;
  /** Closes the gateways that are still open, and removes everything. */
  close(): Promise<void>;
}

export async function newInstallation(): Promise<Installation> {
  const place = await newPlace();
  const shared = { SERVER_KEY: randomBytes(32).toString('base64'), EVENT_WEBHOOK_HOSTS: '127.0.0.0/8' };
  const started: TestGateway[] = [];
  return {
    place,
    async start(name = '') {
      const own = { ...shared, DATA_DIR: name === '' ? place.dataDir : `${place.dataDir}/${name}` };
      const gateway = await startTestGateway(own, { place });
      started.push(gateway);
      return gateway;
    },
    async close() {
      await Promise.all(started.map((gateway) => gateway.close()));
      await place.remove();
    },
  };
}
