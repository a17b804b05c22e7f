// What sinks of AWS are made with in tests: settings that lead to a cloud for tests, and events.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWritten, writeEvent } from '../../../src/events/event.ts';
import type { EventSettings } from '../../../src/events/settings.ts';
import type { AwsTargetAuth } from '../../../src/events/sinks/aws/auth.ts';
import type { SinkContext } from '../../../src/events/sinks/descriptor.ts';
import { openOutbound } from '../../../src/events/sinks/http/outbound.ts';
import type { EventName } from '../../../src/events/types.ts';
import type { WrittenEvent } from '../../../src/events/written-event.ts';
import { type Issuer, newIssuer } from '../issuer.ts';
import { type AwsCloud, startAwsCloud } from './aws-cloud.ts';
import type { CloudKeys } from './aws-cloud-guard.ts';

export const REGION = 'eu-west-1';
export const ACCOUNT = '123456789012';
export const ROLE_ARN = `arn:aws:iam::${ACCOUNT}:role/events`;

export const deliveryStreamArn = `arn:aws:firehose:${REGION}:${ACCOUNT}:deliverystream/events`;
export const streamArn = `arn:aws:kinesis:${REGION}:${ACCOUNT}:stream/events`;
export const logGroupArn = `arn:aws:logs:${REGION}:${ACCOUNT}:log-group:events:*`;

export const byKeys = ({ accessKeyId, secretAccessKey }: CloudKeys): AwsTargetAuth => ({
  role: null,
  creds: { awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey },
});
export const byRole: AwsTargetAuth = { role: { roleArn: ROLE_ARN }, creds: null };

export interface TestCloud {
  ca: Issuer;
  cloud: AwsCloud;
  /** Every service of AWS is the cloud. */
  parts: SinkContext;
  close(): Promise<void>;
}

/** A cloud, and what sinks that ask it are made with. @param names of hosts that its certificate is also for. */
export async function openTestCloud(names?: string[]): Promise<TestCloud> {
  const ca = await newIssuer('CN=cloud authority');
  const cloud = await startAwsCloud({ ca, names });
  const dir = await mkdtemp(join(tmpdir(), 'aws-cloud-'));
  const eventCaFile = join(dir, 'ca.pem');
  await writeFile(eventCaFile, ca.cert);
  const settings = settingsFor({
    eventCaFile,
    eventEndpoints: {
      firehose: cloud.url('firehose'),
      kinesis: cloud.url('kinesis'),
      logs: cloud.url('logs'),
      sts: cloud.url('sts'),
    },
    awsIdentity: { ...cloud.operator, sessionToken: undefined },
  });
  const outbound = openOutbound(settings);
  return {
    ca,
    cloud,
    parts: { settings, outbound, destinationId: 'ed_2abc', accountId: 'ac_2xyz', now: Date.now },
    async close() {
      outbound.close();
      await cloud.close();
      await rm(dir, { recursive: true });
    },
  };
}

export function settingsFor(change: Partial<EventSettings> = {}): EventSettings {
  return {
    eventEndpoints: {},
    eventCaFile: undefined,
    eventWebhookHosts: [],
    eventFileDir: undefined,
    awsIdentity: undefined,
    eventBacklogBytes: 2 ** 28,
    eventBufferBytes: 2 ** 25,
    trafficMaxAge: 86_400_000,
    auditMaxAge: 86_400_000,
    ...change,
  };
}

let made = 0;

interface Wanted {
  type?: EventName;
  at?: number;
  object?: object;
}

/** Another one each time. */
export function newEvent({
  type = 'http_request_complete.v0',
  at = Date.now(),
  object = {},
}: Wanted = {}): WrittenEvent {
  made++;
  return readWritten(writeEvent({ id: `ev_${made}`, type, at, accountId: 'ac_2xyz', principal: null, object }));
}

export const newEvents = (count: number, wanted?: Wanted) => Array.from({ length: count }, () => newEvent(wanted));

/** One that never ends a request. */
export const patience = new AbortController().signal;
