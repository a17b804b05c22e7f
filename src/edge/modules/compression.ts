// The module `compression`.

import { CODINGS, compressResponse } from '../../http/compression.ts';
import type { ContentCoding } from '../../http/exchange.ts';
import type { HttpModule } from '../../http/module.ts';
import type { ModuleDescriptor } from './descriptor.ts';

export const compressionModule: ModuleDescriptor = {
  key: 'compression',
  phase: 'encoding',
  create: () => ({ http: compression() }),
  bindOption: { names: ['Compression'], scope: 'http', read: () => ({ enabled: true }) },
};

/**
 * The module.
 * @param codings that are made use of, best first.
 */
export function compression(codings: readonly ContentCoding[] = CODINGS): HttpModule {
  return {
    name: 'compression',
    onResponse(exchange) {
      compressResponse(exchange, codings);
      return undefined;
    },
  };
}
