import type { ErrorCode } from './stream.ts';

/** What the peer did against the protocol. The session cannot go on, as its bytes no longer mean anything. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
