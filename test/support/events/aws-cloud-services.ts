// What the services of an AWS cloud for tests do with requests that may be made, within the limits of AWS.

import type { AwsService, Fault } from './aws-cloud.ts';
import { CloudError, type CloudKeys } from './aws-cloud-guard.ts';

const DAY_MS = 86_400_000;
const LOG_LIMITS = { events: 10_000, bytes: 1_048_576, overhead: 26, past: 14 * DAY_MS, future: DAY_MS / 12 };

/** Of the requests that are understood. */
export interface AwsBody {
  Records?: { Data: string; PartitionKey?: string }[];
  DeliveryStreamName?: string;
  StreamName?: string;
  StreamARN?: string;
  logGroupName?: string;
  logStreamName?: string;
  logEvents?: { timestamp: number; message: string }[];
  Action?: string;
  RoleArn?: string;
  RoleSessionName?: string;
  ExternalId?: string;
  DurationSeconds?: string;
}

export interface CloudState {
  /** Streams and groups that are not there, by name: all others are. */
  missing: Set<string>;
  taken: Record<AwsService, string[]>;
  /** What was written to each, by `<group>:<stream>`. */
  logStreams: Map<string, string[]>;
  /** Who may be assumed, and with which external id. */
  roles: Map<string, string>;
  newSession(): CloudKeys;
  now(): number;
}

/** An answer in JSON; that of STS in XML. @throws {CloudError} */
export function serve(
  service: AwsService,
  operation: string,
  body: AwsBody,
  state: CloudState,
  fault?: Fault,
): unknown {
  const partial = typeof fault === 'object' && 'partial' in fault ? fault : undefined;
  switch (`${service} ${operation}`) {
    case 'firehose PutRecordBatch':
      find(state, body.DeliveryStreamName);
      return firehoseAnswer(take(service, body, state, { record: 1_024_000, request: 4 * 2 ** 20 }, partial));
    case 'kinesis PutRecords':
      find(state, body.StreamName);
      return kinesisAnswer(take(service, body, state, { record: 2 ** 20, request: 10 * 2 ** 20 }, partial));
    case 'logs CreateLogStream':
      return createLogStream(body, state);
    case 'logs PutLogEvents':
      return putLogEvents(body, state);
    case 'sts AssumeRole':
      return assumeRole(body, state);
    default:
      throw new CloudError(400, 'UnknownOperationException', operation);
  }
}

interface RecordAnswer {
  ErrorCode?: string;
  ErrorMessage?: string;
}

type InPart = Extract<Fault, { partial: number[] }>;

/** @param max bytes before encoding. */
function take(
  service: AwsService,
  { Records = [] }: AwsBody,
  { taken }: CloudState,
  max: { record: number; request: number },
  { partial, code = 'ServiceUnavailableException' }: InPart = { partial: [] },
): RecordAnswer[] {
  if (Records.length < 1 || Records.length > 500) throw new CloudError(400, 'ValidationException', 'too many records');
  const sizes = Records.map(({ Data, PartitionKey = '' }) => Buffer.from(Data, 'base64').length + PartitionKey.length);
  if (sizes.some((size) => size > max.record))
    throw new CloudError(400, 'ValidationException', 'a record is too large');
  if (sizes.reduce((sum, size) => sum + size, 0) > max.request)
    throw new CloudError(400, 'ValidationException', 'too large');
  return Records.map(({ Data }, index) => {
    if (partial.includes(index)) return { ErrorCode: code, ErrorMessage: 'Slow down.' };
    taken[service].push(Buffer.from(Data, 'base64').toString());
    return {};
  });
}

function firehoseAnswer(answers: RecordAnswer[]) {
  const RequestResponses = answers.map((answer, i) => (answer.ErrorCode ? answer : { RecordId: `record-${i}` }));
  return { Encrypted: false, FailedPutCount: failures(answers), RequestResponses };
}

function kinesisAnswer(answers: RecordAnswer[]) {
  const Records = answers.map((answer, i) =>
    answer.ErrorCode ? answer : { SequenceNumber: String(i), ShardId: 'shardId-000000000000' },
  );
  return { FailedRecordCount: failures(answers), Records };
}

const failures = (answers: RecordAnswer[]) => answers.filter(({ ErrorCode }) => ErrorCode).length;

function find({ missing }: CloudState, name = ''): string {
  if (missing.has(name)) throw new CloudError(400, 'ResourceNotFoundException', `${name} not found.`);
  return name;
}

function createLogStream({ logGroupName, logStreamName }: AwsBody, state: CloudState) {
  const key = `${find(state, logGroupName)}:${logStreamName}`;
  if (state.logStreams.has(key)) throw new CloudError(400, 'ResourceAlreadyExistsException', 'The log stream exists.');
  state.logStreams.set(key, []);
  return {};
}

function putLogEvents({ logGroupName, logStreamName, logEvents = [] }: AwsBody, state: CloudState) {
  const written = state.logStreams.get(`${find(state, logGroupName)}:${logStreamName}`);
  if (!written) throw new CloudError(400, 'ResourceNotFoundException', 'The specified log stream does not exist.');
  const invalid = (text: string) => new CloudError(400, 'InvalidParameterException', text);
  const bytes = logEvents.reduce((sum, { message }) => sum + Buffer.byteLength(message) + LOG_LIMITS.overhead, 0);
  if (logEvents.length < 1 || logEvents.length > LOG_LIMITS.events) throw invalid('too many events');
  if (bytes > LOG_LIMITS.bytes) throw invalid('Upload too large');
  const times = logEvents.map(({ timestamp }) => timestamp);
  if (times.some((at, i) => at < (times[i - 1] ?? 0))) throw invalid('Log events must be in chronological order.');
  if ((times.at(-1) ?? 0) - (times[0] ?? 0) > DAY_MS) throw invalid('The batch spans more than 24 hours.');
  const tooOld = times.filter((at) => at < state.now() - LOG_LIMITS.past).length;
  const inTime = times.filter((at) => at <= state.now() + LOG_LIMITS.future).length;
  const messages = logEvents.slice(tooOld, inTime).map(({ message }) => message);
  written.push(...messages);
  state.taken.logs.push(...messages);
  const rejected = {
    ...(tooOld > 0 && { tooOldLogEventEndIndex: tooOld }),
    ...(inTime < times.length && { tooNewLogEventStartIndex: inTime }),
  };
  return Object.keys(rejected).length > 0 ? { rejectedLogEventsInfo: rejected } : {};
}

function assumeRole({ RoleArn = '', ExternalId, DurationSeconds }: AwsBody, state: CloudState): string {
  if (!ExternalId || state.roles.get(RoleArn) !== ExternalId) {
    throw new CloudError(
      403,
      'AccessDenied',
      `User is not authorized to perform: sts:AssumeRole on resource: ${RoleArn}`,
    );
  }
  const { accessKeyId, secretAccessKey, sessionToken } = state.newSession();
  const until = new Date(state.now() + Number(DurationSeconds) * 1000).toISOString();
  return (
    '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>' +
    `<AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey>` +
    `<SessionToken>${sessionToken}</SessionToken><Expiration>${until}</Expiration>` +
    '</Credentials></AssumeRoleResult></AssumeRoleResponse>'
  );
}
