// ACL rules in which `{name}` and `{hostname}` stand for those of the device that gets a credential.

import { ApiError } from '../../errors/errors.ts';
import { checkAcl } from '../credentials/credentials.ts';

/** What a device calls itself, as it says. */
export interface DeviceNames {
  name?: string | null | undefined;
  hostName?: string | null | undefined;
}

/** What stands in a rule for what. */
const PLACEHOLDERS = { '{name}': 'name', '{hostname}': 'hostName' } as const;
/** One label of a domain, so that a device cannot choose a rule: no dot, no star. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** @throws {ApiError} naming the rules that are none when names are put in. */
export function checkAclTemplates(rules: string[]): string[] {
  checkAcl(rules.map((rule) => fill(rule, () => 'device')));
  return rules;
}

/**
 * The rules of one device. Of its host name, what stands before the first dot counts.
 * @throws {ApiError} naming what the rules need and the device does not have.
 */
export function aclOfDevice(rules: readonly string[], names: DeviceNames): string[] {
  return rules.map((rule) =>
    fill(rule, (member) => {
      const label = (names[member] ?? '')
        .toLowerCase()
        .split('.', member === 'hostName' ? 1 : undefined)
        .join('.');
      if (!LABEL.test(label)) throw new ApiError('badDeviceName', { member });
      return label;
    }),
  );
}

function fill(rule: string, put: (member: keyof DeviceNames) => string): string {
  return Object.entries(PLACEHOLDERS).reduce(
    (text, [placeholder, member]) => (text.includes(placeholder) ? text.replaceAll(placeholder, put(member)) : text),
    rule,
  );
}
