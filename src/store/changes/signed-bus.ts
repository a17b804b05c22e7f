// Signs messages on a bus that others can reach: whoever can publish there could otherwise end sessions and command agents.

import { timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import type { Keys } from '../keys/keys.ts';
import type { PeerBus } from './peer-bus.ts';

/** HMAC-SHA-256 in base64url. */
const SIGNATURE_LENGTH = 43;

/**
 * The same bus with signed messages: `<signature> <text>`. The key is derived from the server key, which all gateways of a database
 * have. Messages without a valid signature are dropped. A message that was heard can be sent again by whoever heard it.
 */
export function signedBus(bus: PeerBus, channel: string, keys: Pick<Keys, 'digest' | 'digests'>, log: Logger): PeerBus {
  const signed = (text: string) => `message on ${channel} ${text}`; // No secret that is digested has blanks.
  const isValid = (signature: string, text: string) =>
    keys.digests(signed(text)).some((digest) => timingSafeEqual(Buffer.from(digest), Buffer.from(signature)));
  return {
    ...bus,
    maxBytes: bus.maxBytes - SIGNATURE_LENGTH - 1,
    async connect({ onMessage, onLost }) {
      const connection = await bus.connect({
        onMessage(message) {
          const text = message.slice(SIGNATURE_LENGTH + 1);
          const signature = message.slice(0, SIGNATURE_LENGTH);
          if (/^[\w-]{43}$/.test(signature) && message.length <= bus.maxBytes && isValid(signature, text))
            onMessage(text);
          else log.warn({ length: message.length }, 'message on the bus without a valid signature dropped');
        },
        onLost,
      });
      return { ...connection, publish: (text) => connection.publish(`${keys.digest(signed(text))} ${text}`) };
    },
  };
}
