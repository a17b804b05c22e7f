// The sink of Amazon CloudWatch Logs. It creates the log streams of the group: one per destination and day (UTC).

import { type SinkContext, type SinkDescriptor, textMember } from '../descriptor.ts';
import type { Rejection, Sink, SinkError } from '../sink.ts';
import { checkTargetMembers } from '../target-error.ts';
import { type ArnKind, checkArn, readArn } from './arn.ts';
import { type AwsTargetAuth, authMember, awsErrors, checkAuth } from './auth.ts';
import { type AwsOptions, openAws } from './client.ts';
import { withoutEvents } from './errors.ts';
import { byDay, type Day, rejectedEvents } from './log-days.ts';

type CloudwatchLogsTarget = {
  auth: AwsTargetAuth;
  logGroupArn: string;
};

const logGroup: ArnKind = {
  service: 'logs',
  resource: /^log-group:([\w./#-]{1,512})(?::\*)?$/,
  noun: 'a CloudWatch log group',
  example: 'log-group:events',
};

export const cloudwatchLogs: SinkDescriptor<CloudwatchLogsTarget> = {
  title: 'A CloudWatch log group.',
  description: 'A log group of Amazon CloudWatch Logs.',
  members: {
    auth: authMember,
    logGroupArn: textMember('The ARN of the log group.', 'Required. The ARN of the log group.'),
  },
  endpoints: ['logs', 'sts'],
  errors: awsErrors,
  check: ({ auth, logGroupArn }, path) =>
    checkTargetMembers({
      auth: () => checkAuth(auth, `${path}.auth`),
      logGroupArn: () => checkArn(logGroupArn, `${path}.logGroupArn`, logGroup),
    }),
  recipient: ({ auth, logGroupArn }) => [logGroupArn, auth.creds?.awsAccessKeyId],
  open: (target, context) => cloudwatchLogsSink(target, context),
};

/** The bytes that CloudWatch Logs adds to the size of each event. */
const EVENT_OVERHEAD = 26;
/** The limits of PutLogEvents. */
const limits = { records: 10_000, bytes: 1024 * 1024, recordBytes: 1024 * 1024 };

/** @throws {SinkError} when the ARN is not that of a log group. */
export async function cloudwatchLogsSink(
  { auth, logGroupArn }: CloudwatchLogsTarget,
  parts: SinkContext,
  options: AwsOptions = {},
): Promise<Sink> {
  const { name: logGroupName, region } = readArn(logGroupArn, logGroup);
  const { CloudWatchLogsClient, CreateLogStreamCommand, PutLogEventsCommand } = await import(
    '@aws-sdk/client-cloudwatch-logs'
  );
  const aws = await openAws(
    { service: 'logs', region },
    auth,
    parts,
    options,
    (settings) => new CloudWatchLogsClient(settings),
  );
  /** The log stream that was written to last. */
  let knownStream: string | undefined;

  async function makeStream(logStreamName: string, signal: AbortSignal): Promise<void> {
    const command = new CreateLogStreamCommand({ logGroupName, logStreamName });
    await aws
      .send(signal, (client, options) => client.send(command, options))
      .catch((error: SinkError) => {
        if (error.code !== 'ResourceAlreadyExistsException') throw withoutEvents(error);
      });
    knownStream = logStreamName;
  }

  async function putDay({ name, events }: Day, signal: AbortSignal): Promise<Rejection[]> {
    const logStreamName = `tunnel-gateway/${parts.destinationId}/${name}`;
    const logEvents = events.map(({ event, at }) => ({ timestamp: at, message: event.text }));
    const command = new PutLogEventsCommand({ logGroupName, logStreamName, logEvents });
    const send = () => aws.send(signal, (client, options) => client.send(command, options));
    if (knownStream !== logStreamName) await makeStream(logStreamName, signal);
    const answer = await send().catch(async (error: SinkError) => {
      if (error.code !== 'ResourceNotFoundException') throw error;
      // The stream was deleted. If the group is missing, creating the stream fails.
      await makeStream(logStreamName, signal);
      return send();
    });
    return rejectedEvents(events, answer.rejectedLogEventsInfo);
  }

  return {
    limits,
    sizeOf: ({ size }) => size + EVENT_OVERHEAD,
    async put(events, signal) {
      const days = byDay(events);
      const rejections: Rejection[] = [];
      for (const [place, day] of days.entries()) {
        try {
          rejections.push(...(await putDay(day, signal)));
        } catch (error) {
          if (place === 0) throw error;
          // Events of earlier days were accepted, so only the rest may be sent again. Sent alone, it fails with its own error.
          const { code, message } = error as SinkError;
          const left = days.slice(place).flatMap((late) => late.events);
          rejections.push(...left.map(({ index }) => ({ index, fate: 'retry' as const, code, message })));
          break;
        }
      }
      return rejections;
    },
    close: () => {},
  };
}
