// What IP restrictions of an account are about, in words.

import type { IpRestrictionType } from '../../../generated/operations.ts';

export const restrictionTypes: Readonly<Record<IpRestrictionType, string>> = {
  ENDPOINTS: 'Visitors of all endpoints',
  AGENT: 'Agents',
  API: 'The API, with keys',
  DASHBOARD: 'The dashboard',
};

/** A type that a form was left with, perhaps as an earlier version wrote it. */
export function restrictionTypeOf(text: string): IpRestrictionType {
  return Object.hasOwn(restrictionTypes, text) ? (text as IpRestrictionType) : 'ENDPOINTS';
}
