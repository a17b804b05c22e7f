import type { CapturedRequestQuery } from '../../generated/operations.ts';

/** A captured request with its answer, as it is looked at alone. */
export type Request = NonNullable<CapturedRequestQuery['capturedRequest']>;
