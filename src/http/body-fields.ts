// What a head says of its body, when another body takes its place.

import type { ContentCoding } from './exchange.ts';
import type { HeaderList } from './header-list.ts';

/** They are of the body as it was. */
export const DIGESTS: readonly string[] = ['content-md5', 'content-digest', 'repr-digest', 'digest'];

/**
 * Changes the fields for another body, which is there as a whole and has no content coding.
 * @param coding the one that it is going to be sent in.
 */
export function describeOwnBody(fields: HeaderList, body: Buffer, coding?: ContentCoding): void {
  fields.remove('transfer-encoding');
  if (!coding) fields.remove('content-encoding');
  describeStreamedBody(fields);
  fields.add('Content-Length', String(body.length));
}

/** Changes the fields for a body that is changed on its way, so that its length is not known before. */
export function describeStreamedBody(fields: HeaderList): void {
  for (const name of ['content-length', 'trailer', ...DIGESTS]) fields.remove(name);
}
