// What clouds need of packages is loaded by the first event for one, and by no start without.

import { expect, test } from 'vitest';
import { type CloudKind, startClouds, targetOf } from '../../support/events/clouds-lab.ts';
import { inspected, loadedPackages } from '../../support/events/clouds-loaded.ts';
import { onServer } from '../../support/gateway/place.ts';
import { startProcess } from '../../support/gateway/process.ts';

test.skipIf(onServer)(
  'the packages of a cloud are loaded when there is something for it',
  { timeout: 60_000 },
  async () => {
    const clouds = await startClouds();
    const gateway = await startProcess({ ...clouds.env, ...inspected, INITIAL_API_KEY: 'key-of-the-test-of-clouds' });
    try {
      const { call } = gateway;
      const ofClouds = async () =>
        [...(await loadedPackages(gateway))].filter((name) => /^@(aws-sdk|smithy)\//.test(name));
      const create = async (kind: CloudKind) => {
        const { status, body } = await call('POST', '/event_destinations', { target: targetOf(clouds, kind) });
        expect(status).toBe(201);
        const sources = [{ type: 'ip_policy_created.v0' }];
        await call('POST', '/event_subscriptions', { sources, destination_ids: [body.id] });
        return `/event_destinations/${body.id}/delivery`;
      };
      const deliver = async (path: string, delivered: number) => {
        await call('POST', '/ip_policies', {});
        const delivery = expect.poll(async () => (await call('GET', path)).body, { timeout: 20_000, interval: 50 });
        await delivery.toMatchObject({ state: 'ok', delivered_events: delivered });
      };

      await deliver(await create('datadog'), 1);
      expect([...(await loadedPackages(gateway))]).toContain('@prisma/client');
      expect(await ofClouds()).toEqual([]);
      const firehose = await create('firehose');
      expect(await ofClouds(), 'a destination alone').toEqual([]);
      await deliver(firehose, 1);
      const ofFirehose = await ofClouds();
      expect(ofFirehose).toContain('@aws-sdk/client-firehose');
      expect(ofFirehose.filter((name) => /kinesis|cloudwatch|sts/.test(name))).toEqual([]);
    } finally {
      await gateway.kill();
      await gateway.place.remove();
      await clouds.close();
    }
  },
);
