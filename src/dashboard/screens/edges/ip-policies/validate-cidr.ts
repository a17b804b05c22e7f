/** Validates a network in CIDR notation. The gateway validates it again. @returns an error message, or null. */
export function validateCidr(text: string): string | null {
  const [, address, length] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  if (address === undefined) return 'This must be a network, as 10.0.0.0/8 or 2001:db8::/32.';
  const isSix = address.includes(':');
  if (length === undefined) return `A network has a length: for this one address, ${address}/${isSix ? 128 : 32}.`;
  if (Number(length) > (isSix ? 128 : 32)) return `The length must be from 0 to ${isSix ? 128 : 32}.`;
  const parts = address.split('.');
  const isFour = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
  return isSix || isFour ? null : `${address} isn’t an address.`;
}
