// What the gateway's own name server has at names of its zones.

import type { ZoneNames } from '../../dns/zone-names.ts';
import type { Db } from '../database/client.ts';
import { isWithin } from '../domains/dns-names.ts';
import { findTexts, isCnameTarget } from './challenges.ts';

export interface ZoneSettings {
  baseDomain: string;
  cnameDomain: string;
  acmeDomain: string;
  /** Where the text for the gateway's own wildcard is, in `acmeDomain`. */
  ownChallengeTarget: string;
}

/**
 * Targets of domains exist as long as their domain does. Below the base domain every name has the addresses of the gateway, but for
 * those that begin with an underscore, which are no hosts.
 */
export function zoneNames(
  db: Db,
  { baseDomain, cnameDomain, acmeDomain, ownChallengeTarget }: ZoneSettings,
): ZoneNames {
  const ofOwn = new Set([ownChallengeTarget, `_acme-challenge.${baseDomain}`]);
  return {
    async find(name) {
      if (ofOwn.has(name) || isWithin(name, acmeDomain)) {
        const txt = (await findTexts(db, name)) ?? (ofOwn.has(name) ? [] : undefined);
        return txt ? { kind: 'text', txt } : { kind: 'none' };
      }
      if (isWithin(name, cnameDomain)) return { kind: (await isCnameTarget(db, name)) ? 'addresses' : 'none' };
      return { kind: name.split('.').some((label) => label.startsWith('_')) ? 'none' : 'addresses' };
    },
  };
}
