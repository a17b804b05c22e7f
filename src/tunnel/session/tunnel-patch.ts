// The calls by which an agent unbinds or changes a tunnel.

import { Fields } from '../../protocol/messages/fields.ts';

/** A call that unbinds or changes a tunnel. */
export interface TunnelPatch {
  id: string;
  /** The new metadata; null leaves it unchanged. */
  metadata: string | null;
  /** The new traffic policy; null leaves it unchanged. */
  policy: string | null;
}

/** Reads the call. @param idName the member that has the tunnel's id. */
export function readTunnelPatch(message: object, idName: 'Id' | 'TunnelId'): TunnelPatch {
  const fields = new Fields(message);
  return {
    id: fields.text(idName),
    metadata: fields.textOrNull('Metadata'),
    policy: fields.textOrNull('TrafficPolicy'),
  };
}
