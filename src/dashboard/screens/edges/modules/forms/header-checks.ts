// Which header fields a route may add and remove.

import { atMost } from '../../../../ui/checks.ts';

/** They frame a message, or belong to whoever sends it. */
const RESERVED = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

export function headerName(side: 'request' | 'response') {
  return (name: string): string | null => {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(name.trim())) return 'This isn’t the name of a header field.';
    const isReserved =
      RESERVED.has(name.trim().toLowerCase()) || (side === 'request' && name.trim().toLowerCase() === 'host');
    return isReserved ? 'Only the gateway or the client itself may say this one.' : null;
  };
}

export function headerValue(value: string): string | null {
  return /[^\t\P{Cc}]/u.test(value) ? 'The value must be one line.' : atMost(8192)(value);
}
