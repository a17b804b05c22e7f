// What can be wrong with an expression: when it is compiled, and when it is evaluated.

/** `unknown`: a name; `type`: what a function or an operator gets; `limit`: size, depth; `regex`: a pattern. */
export type CelErrorCode = 'syntax' | 'unknown' | 'type' | 'limit' | 'regex';

/** An expression that cannot be used; its message says what would be right. */
export class CelError extends Error {
  readonly code: CelErrorCode;
  /** Where: UTF-16 units from the start of the text, the first being 0. */
  readonly position: number;

  constructor(code: CelErrorCode, position: number, message: string) {
    super(message);
    this.name = 'CelError';
    this.code = code;
    this.position = position;
  }
}

/** An expression has no value for what it is asked about: whoever asked must refuse the visit. */
export class CelFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelFailure';
  }
}
