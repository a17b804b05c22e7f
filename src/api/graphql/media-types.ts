// In which forms a client takes answers, and which there are.

import type { IncomingHttpHeaders } from 'node:http';
import { qualityValues } from '../../http/quality-values.ts';
import { requestError } from './plugins/errors.ts';

const RESULT_TYPES = ['application/graphql-response+json', 'application/json'];
const STREAM_TYPE = 'text/event-stream';

/**
 * Before an operation is looked at.
 * @throws {ApiError} when no answer could have a form that the client takes.
 */
export function checkAccept({ accept }: IncomingHttpHeaders): void {
  if (!accepts(accept, [...RESULT_TYPES, STREAM_TYPE])) throw requestError('notAcceptable');
}

/** Before a subscription is begun. @throws {ApiError} when the client does not take a stream of events. */
export function checkAcceptsStream({ accept }: IncomingHttpHeaders): void {
  if (!accepts(accept, [STREAM_TYPE])) throw requestError('streamNotAcceptable');
}

function accepts(accept: string | undefined, types: readonly string[]): boolean {
  if (accept === undefined || accept === '' || accept === '*/*' || types.includes(accept)) return true;
  const weights = qualityValues(accept);
  return types.some((type) => {
    const weight = weights.get(type) ?? weights.get(`${type.split('/')[0]}/*`) ?? weights.get('*/*') ?? 0;
    return weight > 0;
  });
}
