// Tokens of the check that the gateway makes of itself.

import { randomBytes } from 'node:crypto';

const TOKEN_BYTES = 24;

/** A token of the gateway's own check, in the form that those of authorities have (RFC 8555, section 8.3). */
export const newChallengeToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');
