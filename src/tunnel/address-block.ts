/** Of IPv6 whoever has one address has 2^64 of them: the first four groups are what one network has. */
const NETWORK_GROUPS = 4;

/**
 * What an address counts as where there are limits by address: one of IPv4 as itself, also when it is written as IPv6; one of
 * IPv6 as its first groups.
 */
export function addressBlock(address: string, groupCount = NETWORK_GROUPS): string {
  if (!address.includes(':')) return address;
  const [, v4] = /^::ffff:(\d+(?:\.\d+){3})$/.exec(address) ?? [];
  if (v4) return v4;
  const [head = '', tail = ''] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  while (groups.length + after.length < 8) groups.push('0');
  return `${[...groups, ...after].slice(0, groupCount).join(':')}::/${16 * groupCount}`;
}
