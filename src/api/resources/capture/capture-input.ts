// Checks of what captures and replays are asked for.

import type { ReplayEdits } from '../../../capture/replay-head.ts';
import { REQUEST_FIELDS_MAX } from '../../../edge/codec/request-head.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkAll, checkEach } from '../../errors/problems.ts';

const BODY_BYTES_MAX = 1024 * 1024;
const MINUTES_MAX = 24 * 60;
const REDACTED_MAX = 100;
const NAME_MAX = 128;
const METHOD_MAX = 32;
const PATH_MAX = 16 * 1024;

/** The names that the gateway takes: without underscores, see `request-head.ts`. */
const NAME = /^[!#$%&'*+\-.^`|~0-9A-Za-z]+$/;
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** One line, of characters that a field may have. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const PATH = /^(?:\*|\/[\x21\x22\x24-\x7e]*)$/;

/** How to capture. */
export interface CaptureOptions {
  /** The most bytes to record of each body. */
  bodyBytes: number;
  /** The names of header fields to redact, in any case, in addition to those that always are. */
  redactHeaders: readonly string[];
  /** The duration of the capture. */
  minutes: number;
}

type Given<T> = { [K in keyof T]?: T[K] | null };

/** @throws {ApiError} when something is not right. */
export function checkCaptureSettings({ bodyBytes, redactHeaders, minutes }: Given<CaptureOptions>): CaptureOptions {
  const wish = { bodyBytes: bodyBytes ?? 0, redactHeaders: redactHeaders ?? [], minutes: minutes ?? 60 };
  checkAll({
    bodyBytes() {
      if (wish.bodyBytes < 0 || wish.bodyBytes > BODY_BYTES_MAX)
        throw new ApiError('bodyBytesRange', { member: 'bodyBytes', max: BODY_BYTES_MAX });
    },
    minutes() {
      if (wish.minutes < 1 || wish.minutes > MINUTES_MAX)
        throw new ApiError('captureMinutesRange', { member: 'minutes', max: MINUTES_MAX });
    },
    redactHeaders() {
      if (wish.redactHeaders.length > REDACTED_MAX)
        throw new ApiError('tooManyRedactedHeaders', { member: 'redactHeaders', max: REDACTED_MAX });
      checkEach(wish.redactHeaders, (name, index) => {
        if (name.length > NAME_MAX || !METHOD.test(name))
          throw new ApiError('badRedactedHeader', { member: `redactHeaders[${index}]`, max: NAME_MAX });
      });
    },
  });
  return wish;
}

export interface GivenReplay {
  method?: string | null;
  path?: string | null;
  headers?: readonly { name: string; value?: string | null }[] | null;
  bodyBase64?: string | null;
}

/** @throws {ApiError} likewise. */
export function checkReplay({ method, path, headers, bodyBase64 }: GivenReplay): ReplayEdits {
  const isMethod = method == null || (method.length <= METHOD_MAX && METHOD.test(method) && method !== 'CONNECT');
  return checkAll({
    method() {
      if (!isMethod) throw new ApiError('badReplayMethod', { member: 'method', max: METHOD_MAX });
      return method ?? undefined;
    },
    path() {
      if (path != null && (path.length > PATH_MAX || !PATH.test(path)))
        throw new ApiError('badReplayPath', { member: 'path', max: PATH_MAX });
      return path ?? undefined;
    },
    fields: () => (headers ? checkFields(headers) : undefined),
    body: () => (bodyBase64 == null ? undefined : checkBase64(bodyBase64)),
  });
}

function checkFields(headers: NonNullable<GivenReplay['headers']>): NonNullable<ReplayEdits['fields']> {
  if (headers.length > REQUEST_FIELDS_MAX)
    throw new ApiError('tooManyReplayHeaders', { member: 'headers', max: REQUEST_FIELDS_MAX });
  return checkEach(headers, ({ name, value = null }, index) => {
    const member = `headers[${index}]`;
    if (!NAME.test(name) || (value !== null && !VALUE.test(value))) throw new ApiError('badReplayHeader', { member });
    if (/^host$/i.test(name) && value !== null) throw new ApiError('replayHost', { member });
    return [name, value];
  });
}

function checkBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new ApiError('badBase64', { member: 'bodyBase64' });
  return bytes;
}
