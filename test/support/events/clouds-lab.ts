// A gateway whose destinations are clouds of the test: everything is set up and looked at through its API.

import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { eventually } from '../eventually.ts';
import { type Account, startTestGateway, type TestGateway, type TestOptions } from '../gateway/gateway.ts';
import { newIssuer } from '../issuer.ts';
import { type AwsCloud, type AwsService, startAwsCloud } from './aws-cloud.ts';
import { REGION } from './aws-sinks.ts';
import { type HttpCloud, right, startHttpCloud } from './http-cloud.ts';

export const awsKinds = ['firehose', 'kinesis', 'cloudwatch_logs'] as const;
export const httpKinds = ['datadog', 'azure_logs_ingestion'] as const;
export type AwsKind = (typeof awsKinds)[number];
export type CloudKind = AwsKind | (typeof httpKinds)[number] | 'otlp';

export interface Clouds {
  aws: AwsCloud;
  http: HttpCloud;
  /** What a gateway's configuration needs to find them. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export interface CloudLab extends Clouds {
  gateway: TestGateway;
  /** What the API has answered about feeds, but for the creation of destinations: that shows secrets. */
  readonly answers: string[];
  /** The clouds end, and the gateway goes on. */
  closeClouds(): Promise<void>;
  /** A destination of an account of its own, at a cloud, with a subscription to what `Feed.make` makes. */
  feed(kind: CloudKind, change?: TargetChange): Promise<Feed>;
}

/** What is else than in a target that works. */
export interface TargetChange {
  /** In place of the secret access key, the API key or the client secret. */
  secret?: string;
  /** In place of the access key of creds: this role, which nobody may assume yet. */
  roleArn?: string;
}

/** As REST has it. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer, which assertions look into.
type Json = any;

export interface Feed {
  kind: CloudKind;
  account: Account;
  /** The URI of its REST resource. */
  path: string;
  /** Makes changes, one after the other, each of which is one event. @returns the ids of what was made. */
  make(count: number): Promise<string[]>;
  /** How delivery stands. */
  look(): Promise<Json>;
  /** Waits until how delivery stands passes a test. */
  until(test: (delivery: Json) => boolean): Promise<void>;
  /** Has every attempt that was put off be due. */
  due(): Promise<void>;
  /** Sends a test event: the answer. */
  trial(): Promise<Json>;
  /** Changes the target. */
  mend(change?: TargetChange): Promise<void>;
  /** The events of what was made that the cloud took, in the order in which it did. */
  arrived(): Json[];
}

/** Clouds under one authority. */
export async function startClouds(): Promise<Clouds> {
  const ca = await newIssuer('CN=authority of the clouds');
  const [aws, http] = await Promise.all([startAwsCloud({ ca }), startHttpCloud({ ca })]);
  const directory = await mkdtemp(join(inject('run'), 'clouds-'));
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, ca.cert);
  const awsNames: AwsService[] = ['firehose', 'kinesis', 'logs', 'sts'];
  const places = [...awsNames.map((name) => [name, aws.url(name)]), ...Object.entries(http.endpoints)];
  const env = {
    EVENT_ENDPOINTS: places.map(([name, url]) => `${name}=${url}`).join(),
    EVENT_CA_FILE: caFile,
    EVENT_WEBHOOK_HOSTS: 'localhost,127.0.0.0/8,::1/128',
    AWS_ACCESS_KEY_ID: aws.operator.accessKeyId,
    AWS_SECRET_ACCESS_KEY: aws.operator.secretAccessKey,
  };
  let closed: Promise<unknown> | undefined;
  return {
    aws,
    http,
    env,
    async close() {
      closed ??= Promise.all([aws.close(), http.close()]);
      await closed;
    },
  };
}

/** Starts everything. @param env more of the gateway's environment. */
export async function openCloudLab(env: Record<string, string> = {}, options: TestOptions = {}): Promise<CloudLab> {
  const clouds = await startClouds();
  let skew = 0;
  const gateway = await startTestGateway({ ...clouds.env, ...env }, { now: () => Date.now() + skew, ...options });
  const answers: string[] = [];

  const lab: CloudLab = {
    ...clouds,
    gateway,
    answers,
    closeClouds: clouds.close,
    async feed(kind, change) {
      const plain = await gateway.newAccount();
      const target = targetOf(lab, kind, change);
      const { id } = await expected(plain.call('POST', '/event_destinations', { target }), 201);
      const call: Account['call'] = async (...request) => {
        const answer = await plain.call(...request);
        answers.push(answer.text);
        return answer;
      };
      const account = { ...plain, call };
      const path = `/event_destinations/${id}`;
      const sources = [{ type: 'ip_policy_created.v0' }];
      await expected(account.call('POST', '/event_subscriptions', { sources, destination_ids: [id] }), 201);
      const look = () => expected(account.call('GET', `${path}/delivery`), 200);
      const made = new Set<string>();
      return {
        kind,
        account,
        path,
        async make(count) {
          const ids: string[] = [];
          for (let n = 0; n < count; n++) ids.push((await expected(account.call('POST', '/ip_policies', {}), 201)).id);
          for (const policy of ids) made.add(policy);
          return ids;
        },
        look,
        async until(test) {
          await eventually(async () => expect(await look()).toSatisfy(test), { timeout: 15_000, interval: 25 });
        },
        async due() {
          const { next_attempt_at: at } = await look();
          // What the API shows is of whole seconds.
          if (at) skew = Math.max(skew, Date.parse(at) + 1000 - Date.now());
        },
        trial: () => expected(account.call('POST', `${path}/test`), 200),
        async mend(change) {
          await expected(account.call('PATCH', path, { target: targetOf(lab, kind, change) }), 200);
        },
        arrived: () => takenBy(lab, kind).filter(({ object }) => made.has(object.id)),
      };
    },
    async close() {
      await gateway.close();
      await clouds.close();
    },
  };
  return lab;
}

async function expected(answer: ReturnType<Account['call']>, wanted: number): Promise<Json> {
  const { status, text, body } = await answer;
  expect(status, text).toBe(wanted);
  return body;
}

const arn = (service: string, resource: string) => `arn:aws:${service}:${REGION}:123456789012:${resource}`;

/** A target that works, in the words of REST. */
export function targetOf(
  { aws, http }: Pick<CloudLab, 'aws' | 'http'>,
  kind: CloudKind,
  change: TargetChange = {},
): object {
  const { secret, roleArn } = change;
  const { accessKeyId, secretAccessKey } = aws.customer;
  const creds = { aws_access_key_id: accessKeyId, aws_secret_access_key: secret ?? secretAccessKey };
  const auth = roleArn ? { role: { role_arn: roleArn } } : { creds };
  switch (kind) {
    case 'firehose':
      return { firehose: { auth, delivery_stream_arn: arn('firehose', 'deliverystream/events') } };
    case 'kinesis':
      return { kinesis: { auth, stream_arn: arn('kinesis', 'stream/events') } };
    case 'cloudwatch_logs':
      return { cloudwatch_logs: { auth, log_group_arn: arn('logs', 'log-group:events:*') } };
    case 'datadog':
      return { datadog: { api_key: secret ?? right.apiKey, ddsite: 'datadoghq.eu' } };
    case 'azure_logs_ingestion':
      return {
        azure_logs_ingestion: {
          tenant_id: right.tenantId,
          client_id: right.clientId,
          client_secret: secret ?? right.clientSecret,
          logs_ingestion_uri: 'https://events-a1b2.westeurope-1.ingest.monitor.azure.com',
          data_collection_rule_id: `dcr-${'0a'.repeat(16)}`,
          data_collection_stream_name: 'Custom-Gateway_CL',
        },
      };
    case 'otlp': {
      const headers = [{ name: 'Authorization', value: `Bearer ${secret ?? right.otlpToken}` }];
      return { otlp: { endpoint: http.url, headers, compression: 'gzip' } };
    }
  }
}

/** By which name a kind of target is scripted in the AWS cloud. */
export const serviceOf = (kind: AwsKind): AwsService => (kind === 'cloudwatch_logs' ? 'logs' : kind);

/** All events that a cloud took; of Azure its rows, which say less. */
function takenBy({ aws, http }: CloudLab, kind: CloudKind): Json[] {
  const parse = (text: string) => JSON.parse(text);
  if (kind === 'datadog') return itemsOf(http, 'datadog').map(({ message }) => parse(message));
  if (kind === 'azure_logs_ingestion') return itemsOf(http, 'azure');
  if (kind === 'otlp') return logRecordsOf(http).map(({ body }) => parse(body.stringValue));
  return aws.records(serviceOf(kind)).map(parse);
}

function logRecordsOf({ taken }: HttpCloud): Json[] {
  return taken
    .filter(({ service }) => service === 'otlp')
    .flatMap(({ json }) => (json as Json).resourceLogs[0].scopeLogs[0].logRecords);
}

function itemsOf({ taken }: HttpCloud, name: 'datadog' | 'azure'): Json[] {
  return taken.filter(({ service }) => service === name).flatMap(({ json }) => json as Json[]);
}
