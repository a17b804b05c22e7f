// Validators of header fields that somebody sets. The gateway validates again.

import { maxBytes } from './validators.ts';

/** Header fields that frame the message or belong to its sender. */
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

/** For the names of fields that are added to requests or responses. */
export function headerNameValidator(side: 'request' | 'response') {
  return (name: string): string | null => {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(name.trim())) return 'This isn’t the name of a header field.';
    const isReserved =
      RESERVED.has(name.trim().toLowerCase()) || (side === 'request' && name.trim().toLowerCase() === 'host');
    return isReserved ? 'Only the gateway or the client itself may say this one.' : null;
  };
}

export function validateHeaderValue(value: string): string | null {
  return /[^\t\P{Cc}]/u.test(value) ? 'The value must be one line.' : maxBytes(8192)(value);
}
