// Calls about a tunnel that is there.

import { Fields } from '../protocol/fields.ts';

export interface Patch {
  id: string;
  /** Null stays as it is. */
  metadata: string | null;
  policy: string | null;
}

/** @param idName how the call names the tunnel. */
export function readPatch(message: object, idName: 'Id' | 'TunnelId'): Patch {
  const fields = new Fields(message);
  return {
    id: fields.text(idName),
    metadata: fields.textOrNull('Metadata'),
    policy: fields.textOrNull('TrafficPolicy'),
  };
}
