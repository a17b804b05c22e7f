// The errors of expressions, at compile time and at runtime.

/**
 * `unknown`: an unknown name; `type`: a wrong type of an argument; `limit`: too large or too deep; `regex`: a bad
 * pattern.
 */
export type CelErrorCode = 'syntax' | 'unknown' | 'type' | 'limit' | 'regex';

/** A compile-time error. The message says what is expected. */
export class CelError extends Error {
  readonly code: CelErrorCode;
  /** The position in the text, in UTF-16 code units from 0. */
  readonly position: number;

  constructor(code: CelErrorCode, position: number, message: string) {
    super(message);
    this.name = 'CelError';
    this.code = code;
    this.position = position;
  }
}

/** A runtime error: the expression has no value for this request. The caller must refuse the request (fail closed). */
export class CelFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelFailure';
  }
}
