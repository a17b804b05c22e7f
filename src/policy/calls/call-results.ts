// What expressions see of a request that a policy has sent, and of its response.

import { type CelInput, type CelMap, type CelType, mapType } from '@bufbuild/cel';
import { HeaderList } from '../../http/header-list.ts';
import { OutboundFailed, type OutboundRequest, type OutboundResponse } from '../../http/outbound.ts';
import { visitorErrors } from '../../http/visitor-errors.ts';
import { DYN, INT, STRING } from '../cel/types.ts';
import { fieldMap } from '../cel/variables/field-map.ts';
import type { Bindings, Vocabulary } from '../cel/vocabulary.ts';
import type { Attempt } from './attempts.ts';

type Result = Record<string, CelInput>;

const BY_NAME: CelType = mapType(STRING, DYN);
const NO_FIELDS: CelMap = fieldMap(new HeaderList([]));

/** What the expression that decides about another attempt can use. */
export const RETRY_VOCABULARY: Vocabulary = {
  variables: { attempts: INT, last_attempt: BY_NAME },
  missing: {},
  functions: [],
  contextual: {},
};

/** The bindings of that expression. @param count how many attempts there were. */
export function retryBindings(request: OutboundRequest, last: Attempt, count: number): Bindings {
  // Without a response its status is 0, so that `last_attempt.res.status_code >= 500` can be asked in any case.
  const res = last.response
    ? responseResult(last.response, last)
    : { status_code: 0n, headers: NO_FIELDS, header: NO_FIELDS, body: '' };
  const attempt = {
    req: requestResult(request),
    res: { ...res, statusCode: res.status_code as bigint },
    error: last.failure?.message ?? '',
  };
  return { attempts: BigInt(count), last_attempt: attempt };
}

/**
 * The variable of the action. After a failure it has no `res`, so that an expression about the response fails, and the
 * visitor is rejected, instead of taking an answer that never came for a good one.
 */
export function callResult(request: OutboundRequest, attempts: readonly [Attempt, ...Attempt[]]): Result {
  const { response, failure, durationMs } = attempts.at(-1) as Attempt;
  return {
    req: requestResult(request),
    ...(response && { res: responseResult(response, { durationMs }) }),
    ...(failure && {
      error: { code: `ERR_GATEWAY_${visitorErrors[failure.error].number}`, message: failure.message },
    }),
    attempts: attempts.map((attempt) => {
      const headers = attempt.response ? fieldMap(attempt.response.fields) : NO_FIELDS;
      return {
        response_status_code: BigInt(attempt.response?.status ?? 0),
        response_header: headers,
        response_time_ms: String(attempt.durationMs),
        resolved_ip: attempt.response?.address ?? '',
      };
    }),
  };
}

/** The variable where a trial run does not ask an internal endpoint: what would be sent, and why there is no response. */
export function unsentResult(request: OutboundRequest): Result {
  const { method, url } = request;
  const failure = new OutboundFailed(`a trial run asks no internal endpoint: it would send ${method} ${url.href}`);
  return { ...callResult(request, [{ response: undefined, failure, durationMs: 0 }]), attempts: [] };
}

function requestResult({ method, url, fields, body }: OutboundRequest): Result {
  const headers = fieldMap(new HeaderList(fields));
  return { method, url: url.href, headers, header: headers, body: body?.toString() ?? '' };
}

/** Headers are also called `header`, as existing policies know them. */
function responseResult({ status, fields, body, address }: OutboundResponse, { durationMs }: { durationMs: number }) {
  const headers = fieldMap(fields);
  return {
    status_code: BigInt(status),
    headers,
    header: headers,
    body: body.toString(),
    resolved_ip: address,
    time_ms: String(durationMs),
  } satisfies Result;
}
