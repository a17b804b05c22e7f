// What a head says of its body, when another body takes its place.

import type { HeaderList } from './header-list.ts';

/** They are of the body as it was. */
export const DIGESTS: readonly string[] = ['content-md5', 'content-digest', 'repr-digest', 'digest'];

/** Changes the fields for another body, which is there as a whole and has no content coding. */
export function describeOwnBody(fields: HeaderList, body: Buffer): void {
  for (const name of ['content-length', 'transfer-encoding', 'trailer', 'content-encoding', ...DIGESTS])
    fields.remove(name);
  fields.add('Content-Length', String(body.length));
}
