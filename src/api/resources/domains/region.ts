// The region of what an account reserves. The gateway acts on none; it shows what it was given.

import { ApiError } from '../../errors/errors.ts';

const REGION_MAX_BYTES = 64;

/** @throws {ApiError} when it is too long, or of other characters than letters, digits and hyphens. */
export function checkRegion(region: string): string {
  if (region.length > REGION_MAX_BYTES || !/^[a-z0-9-]*$/i.test(region))
    throw new ApiError('badRegion', { member: 'region', max: REGION_MAX_BYTES });
  return region;
}
