// The end of the captures of an owner whose rights end.

import { stopCapturesOf } from '../../../store/captures/traffic-captures.ts';
import type { Context } from '../../context.ts';

/** Ends the captures that a user or bot user of the account has started. */
export function endCapturesOf(context: Context, ownerId: string): Promise<void> {
  return context.act(async (db, announce) => {
    const ended = await stopCapturesOf(db, announce, { accountId: context.accountId, ownerId });
    const acts = ended.map(({ id, publicUrl }) => ({
      ...({ action: 'CAPTURE_STOPPED', kind: 'trafficCapture' } as const),
      ...{ objectId: id, objectName: publicUrl },
    }));
    return { result: undefined, acts };
  });
}
