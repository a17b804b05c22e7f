import type { CapturedRequestQuery } from '../../generated/operations.ts';

/** A captured request with its response. */
export type Request = NonNullable<CapturedRequestQuery['capturedRequest']>;
